"""How far measuring methods can be trusted: what they report beside the true delay of every packet."""
