"""Names that are made from a template."""

import re
from collections.abc import Mapping

_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")


def fill(template: str, words: Mapping[str, str]) -> str:
    """Return a template with words for `{name}`; nothing else has a meaning, and unknown names stay.

    Templates come from untrusted studies, which must not reach attributes or widths by them.

    Examples
    --------
    >>> fill("{queue}, {load:>99} {queue.__class__}", {"queue": "codel", "load": "x"})
    'codel, {load:>99} {queue.__class__}'
    """

    def word(found: re.Match[str]) -> str:
        try:
            return words[found[1]]
        except KeyError:
            return found[0]

    return _PLACEHOLDER.sub(word, template)


def placeholders(template: str) -> list[str]:
    """Return what a template names.

    Examples
    --------
    >>> placeholders("{queue}-{load}")
    ['queue', 'load']
    """
    return _PLACEHOLDER.findall(template)
