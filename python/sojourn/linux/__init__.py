"""Linux in virtual time: kernels built once in user mode, and commands run in them under their own clock."""
