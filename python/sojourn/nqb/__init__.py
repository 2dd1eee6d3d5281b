"""Whether an application may mark its packets as building no queue, and whether a modem would throw them out."""
