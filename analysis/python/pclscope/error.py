"""The one exception of this package."""


class Error(Exception):
    """What could not be done, as a sentence."""
