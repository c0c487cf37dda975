"""The part that operators which simulate share: read and solve in slices, write at the end."""

import time

import bpy

from ..core.errors import CoreError, SimulationError
from ..core.progress import portion

AT_ONCE = 1.0  # seconds that a click may take before the operator goes on in the background of the window
READING = 0.3  # part of the progress that reading takes
SLICE = 0.2  # seconds of work between two looks at the keyboard: each redraws the window, which may take as long


class Solving:
    """Mixed into an operator that has `prepare(context)`, a generator of the Job, and `finish(context, job, reaction)`.

    Nothing is written before `finish`, so a cancelled or refused run leaves the file as it was.  Names and arrays are
    kept while it runs, never Blender's data.
    """

    _job = None
    _steps = None
    _timer = None
    _progress = 0.0

    def execute(self, context):
        """Solve to the end."""
        context.window_manager.progress_begin(0.0, 1.0)
        try:
            return self._guarded(context, None)
        finally:
            context.window_manager.progress_end()

    def invoke(self, context, _event):
        """Solve to the end if that is quick, else go on with a timer."""
        return self._guarded(context, AT_ONCE)

    def modal(self, context, event):
        """Solve a slice at each tick of the timer; Esc drops it.  Everything else waits, so the input stays as read."""
        if event.type == "ESC":
            self._stop(context)
            self.report({"INFO"}, "Cancelled: nothing was changed.")
            return {"CANCELLED"}
        if event.type != "TIMER":
            return {"RUNNING_MODAL"}
        return self._guarded(context, SLICE)

    def cancel(self, context):
        """Blender ends the operator, as when a file is opened."""
        self._stop(context)

    def _guarded(self, context, seconds):
        """Go on for so long (None: to the end); an error that the user can cure is reported, with nothing changed."""
        try:
            if self._steps is None:
                self._steps = self._made(context)
            reaction = self._drain(context, seconds)
            if reaction is None:
                return self._go_on(context)
            self._stop(context)
            self._require_still_there()
            self.finish(context, self._job, reaction)
            _redraw(context)
        except CoreError as error:
            self._stop(context)
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        except Exception:
            self._stop(context)
            raise
        return {"FINISHED"}

    def _made(self, context):
        """A generator: yields progress, returns the reaction."""
        self._job = yield from portion(self.prepare(context), 0.0, READING)
        return (yield from portion(self._job.solve(), READING, 1.0 - READING))

    def _drain(self, context, seconds):
        """The reaction, or None where it takes longer."""
        end = None if seconds is None else time.perf_counter() + seconds
        while end is None or time.perf_counter() < end:
            try:
                self._progress = next(self._steps)
            except StopIteration as stop:
                return stop.value
            if end is None:
                context.window_manager.progress_update(self._progress)
        return None

    def _go_on(self, context):
        if self._timer is None:
            self._timer = context.window_manager.event_timer_add(0.02, window=context.window)
            context.window_manager.modal_handler_add(self)
        what = "Reading" if self._progress < READING else "Simulating"
        text = "{}: {:.0f} %   (Esc cancels)".format(what, 100.0 * self._progress)
        context.workspace.status_text_set(text)
        return {"RUNNING_MODAL"}

    def _stop(self, context):
        if self._timer is not None:
            context.window_manager.event_timer_remove(self._timer)
            context.workspace.status_text_set(None)
        if self._steps is not None:
            self._steps.close()
        self._timer = self._steps = None

    def _require_still_there(self):
        if bpy.data.objects.get(self._job.armature) is None:
            raise SimulationError("The armature '{}' is gone. Nothing was changed.".format(self._job.armature))


def _redraw(context):
    """Show what was written: after a timer's tick Blender redraws only what it knows of."""
    for window in context.window_manager.windows:
        for area in window.screen.areas:
            area.tag_redraw()
