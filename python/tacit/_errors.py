"""What goes wrong. Arguments that are out of range are ValueError."""


class StateError(RuntimeError):
    """The state says no: it is damaged, belongs to something else, or its budget is used up."""
