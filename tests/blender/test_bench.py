"""The whole job that `build.py bench` times can be done: it reaches into modules by name, which no lint sees."""

import bpy

from bench.job_tasks import Stage


def test_the_whole_job_that_is_timed(fresh_scene):
    stage = Stage(None)
    rig = stage.load()
    stage.job(whole=False)
    assert [len(found.parametric_dynamics_reactions) for found in bpy.data.objects if found.name == rig.name] == [1]
