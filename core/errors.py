"""What a user can cure.  Anything else that is raised is a bug and must show."""


class CoreError(Exception):
    """One sentence naming the thing and the cure: "Bone 'hand.L' has no mass. Give it a mass above 0 kg."."""


class ModelError(CoreError):
    """The body cannot be simulated as it stands."""


class SituationError(CoreError):
    """A situation file or its fit to a rig is wrong."""


class ClipError(CoreError):
    """The clip cannot carry the reaction."""


class SimulationError(CoreError):
    """The simulation left the range in which its result means anything."""
