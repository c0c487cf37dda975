"""The document's own `Bone | value` files (de Heras Ciechomski 2001, fig. 5.2 and tables 5.1 to 5.13)."""

import numpy as np
import pytest

from core import casting, situation
from core.anatomy import analyse
from core.errors import SituationError
from core.progress import run
from core.react import Hit, react
from core.rotation import conjugate, log, multiply

from .figures import HUMAN, build
from .test_react import actor_of, clip_of

# Figure 5.2, cut to the left half.
SIMULATED = """Bip01 | 0
Bip01 Pelvis | 0
  Bip01 Spine | 0
     Bip01 Spine1 | 1
       Bip01 Spine2 | 1
         Bip01 Spine3 | 1
           Bip01 Neck | 1
             Bip01 Head | 0
             Bip01 L Clavicle | 1
               Bip01 L UpperArm | 1
                 Bip01 L Forearm | 1
                   Bip01 L Hand | 0
     Bip01 L Thigh | 0
"""
SHOULDER_FRONT = """Bone Name\tAngle (deg)\tVelocity (deg/sec)
Bip01 Spine1\t-90\t600
Bip01 Spine2\t45\t300
Bip01 Spine3\t45\t300
Bip01 Neck\t45\t300
Bip01 L Clavicle\t-90\t300
Bip01 L UpperArm\t-90\t300
"""
LEG_BACK = """Bone Name | Angle (deg) | Velocity (deg/sec)
Bip01 R Thigh | 90 | 300
Bip01 R Calf  | 90 | 300
Bip01 R Foot  | 90 | 300
Bip01 R Toe0  | 90 | 300

Attack (sec) | Sustain (sec) | Relaxation (sec) | Sim Time (sec)
0.2 | 0.1 | 2.0 | 0.25
"""


def write(folder, **texts):
    for name, text in texts.items():
        (folder / (name + ".txt")).write_text(text, encoding="utf-8")
    return folder


def said(folder):
    return situation.named(str(folder))


def test_a_folder_of_his_files_is_one_situation(tmp_path):
    """Bones, angles and velocities as printed; what isn't in the files is his: 0.1, 0.1, 2.5 and 0.15 s, then held."""
    found = said(write(tmp_path, simulated=SIMULATED, shoulder=SHOULDER_FRONT))
    table = {"spine.1": (-90, 600), "spine.2": (45, 300), "spine.3": (45, 300), "neck.1": (45, 300)}
    table |= {"clavicle.L": (-90, 300), "upper_arm.L": (-90, 300), "forearm.L": (90, 0)}
    assert {key: (s.angle, s.velocity) for key, s in found.bones.items()} == table
    assert all(s.simulated for s in found.bones.values()) and found.simulate == found.support == ()
    assert (found.drive, found.hit, found.direction) == ("velocities", ("upper_arm.L",), (0.0, -1.0, 0.0))
    e = found.envelope
    assert (e.attack, e.sustain, e.relaxation, e.simulation, e.mode) == (0.1, 0.1, 2.5, 0.15, "hold")
    ours = situation.named("shoulder_front")
    assert (found.impulse, found.gain) == (ours.impulse, ours.gain)  # for weight and balance, which he doesn't know
    path = tmp_path / "kept.toml"
    path.write_text(situation.dump(found), encoding="utf-8")
    assert situation.load(path) == found


def test_several_tables_in_one_file(tmp_path):
    found = said(write(tmp_path, leg=LEG_BACK) / "leg.txt")
    assert list(found.bones) == ["thigh.R", "shin.R", "foot.R", "toe.R"]
    assert (found.hit, found.direction) == (("thigh.R",), (0.0, 1.0, 0.0))  # shot from the back
    assert (found.envelope.attack, found.envelope.relaxation, found.envelope.simulation) == (0.2, 2.0, 0.25)
    assert "pelvis" in found.support  # a leg carries the body,
    assert found.envelope.mode == "continue"  # and walks on


def test_masses_are_ratios_on_a_human(tmp_path):
    """Radius 10 everywhere is 4188 kg a bone: bones of one mass, which together weigh what a human's do."""
    rows = "\n".join(f"Bip01 {bone} | {r}" for bone, r in (("L UpperArm", 10), ("L Forearm", 10), ("L Hand", 20)))
    found = said(write(tmp_path, radius=rows, velocity=rows.replace("| ", "| -")))
    mass = {key: s.mass for key, s in found.bones.items()}
    assert mass["hand.L"] == pytest.approx(8.0 * mass["forearm.L"])
    assert sum(mass.values()) == pytest.approx(75.0 * (0.0271 + 0.0162 + 0.0061))
    skeleton = build(HUMAN)
    own = casting.masses(skeleton, analyse(skeleton), found, {"hand.L": {"mass": 1.0}})
    assert own == {"hand.L": 1.0, "forearm.L": mass["forearm.L"], "upper_arm.L": mass["upper_arm.L"]}


def test_a_bone_by_its_own_name_goes_before_its_role(tmp_path):
    """'spine.02' is the second spine of this rig, though the first of the file; a name without a role is found, too."""
    tail = {"gadget": ("head", (0, 0, 1.8), (0, 0, 1.95))}
    actor = actor_of(build(HUMAN | tail))
    found = said(write(tmp_path, velocity="spine.02 | 100\ngadget | 50"))
    meant = {actor.names[i]: s.velocity for i, s in casting.meant(actor, found).items()}
    assert meant == {"spine.02": 100.0, "gadget": 50.0}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Bip01 Spine1\n", "line 1: 'Bip01 Spine1' has no value"),
        ("Attack | Sustain | Relaxation | Simulation\n0.1 | 0.1 | 2,5 | 0.15\n", "line 2: a number stands where"),
        ("Bip01 Spine1 | much\n", "line 1: 'Bip01 Spine1 | much' is neither"),
        ("# masses\nBip01 Spine1 | 3\n", "line 2: it is not said what"),
        ("Bone | Velocity\nBip01 Spine1 | 3 | 4\n", "line 2: it is not said what"),
        ("Bone | Velocity\n3 | 4\n", "line 2: a number stands"),
        ("Bip01 Spine1 | 0\n", "no bone is simulated"),
        ("Bone | Damping | Velocity\nBip01 Spine1 | -1 | 3\n", "ratio is -1"),
    ],
)
def test_refused_by_line(tmp_path, text, reason):
    with pytest.raises(SituationError) as refusal:
        said(write(tmp_path, one=text) / "one.txt")
    assert reason in str(refusal.value) and "one.txt" in str(refusal.value)


@pytest.mark.parametrize("name", ("velocity.txt", "mine.toml"))
def test_a_file_as_editors_save_it(tmp_path, name):
    """With a mark of UTF-8 it is read, in another encoding refused with the cure."""
    kinds = {"mine.toml": situation.dump(situation.named("chest_front"))}
    own = kinds.get(name, "Bone | Angle | Velocity\nHead | 0 | 9")
    text = "# Stoß\n" + own
    path = tmp_path / name
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(SituationError, match=f"{name}' is not a text in UTF-8. Save it as such"):
        situation.load(path)
    path.write_bytes(text.encode("utf-8-sig"))
    assert situation.load(path).hit


def test_an_unknown_bone_is_refused_with_its_line(tmp_path):
    found = said(write(tmp_path, velocity="Bip01 Spine1 | 100\nWing7 | 50"))
    with pytest.raises(SituationError, match=r"velocity.txt, line 2: the rig has no bone 'Wing7'. Name one"):
        casting.meant(actor_of(build()), found)


def test_the_bones_move_as_the_table_says(tmp_path):
    """Shot in the chest from the back: every spine bone turns forward, by itself; nothing else leaves the clip."""
    rows = "\n".join(f"Bip01 Spine{k} | 90 | 600" for k in (1, 2, 3))
    actor, clip = actor_of(build(skin=True)), clip_of(build(skin=True))
    found = said(write(tmp_path, chest="Bone | Angle | Velocity\n" + rows))
    reaction = run(react(actor, clip, found, Hit(10.0)))
    body = ~reaction.hung.bodies  # arms hang on it
    turned = body & (np.abs(reaction.turn).max(axis=(0, 2)) > 1e-6)
    assert np.array_equal(turned, reaction.moving & body)
    assert {actor.names[i] for i in np.flatnonzero(turned)} == {"spine.01", "spine.02"}
    q, _ = reaction.poses(clip)
    own = actor.canonical(clip)[0]
    then = int(np.searchsorted(clip.times, reaction.start + 0.2))
    chest = actor.names.index("spine.02")
    turn = log(multiply(q[then, chest], conjugate(own[then, chest])))
    about_left = float(turn @ reaction.blows[0].axes[0])  # of the figure that walks: forward
    assert np.degrees(about_left) > 15.0 and about_left > 0.98 * np.linalg.norm(turn)
