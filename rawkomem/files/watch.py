"""Watch the repository's folders and reconcile after every file event.

A sweep also runs every few seconds, because event queues overflow, editors save by rename, folders
are deleted and recreated, and some file systems send no events.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable

from watchdog.events import (
    DirAttribEvent,
    DirCreatedEvent,
    DirDeletedEvent,
    DirModifiedEvent,
    DirMovedEvent,
    FileAttribEvent,
    FileClosedEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileModifiedEvent,
    FileMovedEvent,
    FileSystemEvent,
    FileSystemEventHandler,
)
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver

from ..model.errors import RawkoError
from .layout import AREAS, Layout

QUIET_S = 0.03  # time without events before a reconcile: editors save in several steps
MAX_QUIET_WAIT_S = 0.3  # then reconcile even if events keep coming
SWEEP_EVERY_S = 2.0  # between sweeps while there are no events
SWEEP_SHARE = 50  # an idle watcher spends at most 1/50 of its time on sweeps
MAX_SWEEP_EVERY_S = 30.0  # upper limit of that pause
# All events but those of reading: each sweep opens every folder, and with thousands of folders these
# events would overflow the queue, which is answered by a walk over all folders.
CHANGES: list[type[FileSystemEvent]] = [
    DirAttribEvent, DirCreatedEvent, DirDeletedEvent, DirModifiedEvent, DirMovedEvent, FileAttribEvent, FileClosedEvent,
    FileCreatedEvent, FileDeletedEvent, FileModifiedEvent, FileMovedEvent,
]  # fmt: skip


class Watch:
    """Runs `reconcile` whenever files may have changed, until `stop` is called."""

    def __init__(
        self,
        layout: Layout,
        reconcile: Callable[[], object],
        say: Callable[[str], None],
    ):
        self.layout = layout
        self.reconcile = reconcile
        self.say = say
        self.hint = threading.Event()
        self.stopping = threading.Event()
        self.observer: BaseObserver | None = None
        self.watched: list[tuple[int, int] | None] = []
        self.polling = False
        self.complaint = ""

    def stop(self) -> None:
        """End the loop soon; safe from a signal handler."""
        self.stopping.set()
        self.hint.set()

    def run(self) -> None:
        """Reconcile now, then after every burst of events and every few seconds."""
        # no event since the last sweep: only then is its duration that of a plain sweep
        idle = False
        report_failure = threading.excepthook
        threading.excepthook = self._lose_events
        try:
            while not self.stopping.is_set():
                self._keep_observing()
                spent = self._reconcile()
                pause_s = SWEEP_EVERY_S
                if idle and not self.polling:
                    pause_s = min(
                        MAX_SWEEP_EVERY_S, max(SWEEP_EVERY_S, SWEEP_SHARE * spent)
                    )
                idle = not self.hint.wait(pause_s)
                deadline = time.monotonic() + MAX_QUIET_WAIT_S
                while self.hint.is_set() and time.monotonic() < deadline:
                    self.hint.clear()
                    self.hint.wait(QUIET_S)
                self.hint.clear()
        finally:
            self._stop_observing()
            threading.excepthook = report_failure

    def _lose_events(self, failed: threading.ExceptHookArgs) -> None:
        """Go on without events, because a thread that reads them failed."""
        self._poll(failed.exc_value)
        self.hint.set()

    def _poll(self, failure: object) -> None:
        self.polling = True
        self.say(f"no file events here ({failure}): checking every {SWEEP_EVERY_S:g} s")

    def _reconcile(self) -> float:
        started = time.monotonic()
        try:
            self.reconcile()
            self.complaint = ""
        except RawkoError as failure:
            if failure.message != self.complaint:
                self.say(failure.in_full)
            self.complaint = failure.message
        return time.monotonic() - started

    def _keep_observing(self) -> None:
        """Watch the folders that exist now: a checkout may replace a folder under the same name."""
        if self.polling:
            return
        folders = [
            self.layout.root,
            *(os.path.join(self.layout.root, area) for area in AREAS),
        ]
        identities = [_identity(folder) for folder in folders]
        if identities == self.watched and self.observer and self.observer.is_alive():
            return
        self._stop_observing()
        try:
            self.observer = Observer()
            for folder, identity in zip(folders, identities, strict=True):
                if identity:  # the root is watched for new and removed areas, not for our index below it
                    self.observer.schedule(
                        _Hints(self),
                        folder,
                        recursive=folder != self.layout.root,
                        event_filter=CHANGES,
                    )
            self.observer.start()
            self.watched = identities
        except FileNotFoundError:
            # a folder was removed just now: the next round tries again
            self._stop_observing()
        except OSError as failure:
            self._stop_observing()
            self._poll(failure.strerror or failure)

    def _stop_observing(self) -> None:
        if self.observer is not None and self.observer.is_alive():
            try:
                self.observer.stop()
                self.observer.join(timeout=2)
            except KeyError:
                pass  # watchdog 7 may lose a folder that was moved twice; its threads are daemons
        self.observer = None
        self.watched = []


class _Hints(FileSystemEventHandler):
    """Sets the watch's hint after events on memory files and folders; ignores the local folder."""

    def __init__(self, watch: Watch):
        self.watch = watch
        self.local = watch.layout.local + os.sep

    def on_any_event(self, event: FileSystemEvent) -> None:
        paths = [
            os.fsdecode(path) for path in (event.src_path, event.dest_path) if path
        ]
        if any(
            not path.startswith(self.local) and path + os.sep != self.local
            for path in paths
        ):
            self.watch.hint.set()


def _identity(folder: str) -> tuple[int, int] | None:
    try:
        stat = os.stat(folder)
    except OSError:
        return None
    return stat.st_dev, stat.st_ino
