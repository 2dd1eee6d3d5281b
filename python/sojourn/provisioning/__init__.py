"""CM configuration files of DOCSIS: octets, text, what is wrong with them, and the service they stand for."""

from sojourn.provisioning.configuration import (
    Configuration,
    Difference,
    Issue,
    ProvisioningError,
    decode,
    diff,
    encode,
    read_secret,
)
from sojourn.provisioning.expansion import Modem, Service, Style, expand, restate

__all__ = [
    "Configuration",
    "Difference",
    "Issue",
    "Modem",
    "ProvisioningError",
    "Service",
    "Style",
    "decode",
    "diff",
    "encode",
    "expand",
    "read_secret",
    "restate",
]
