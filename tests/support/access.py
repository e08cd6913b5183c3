"""What a screen reader and the keyboard find in a window: names, roles, and where Tab leads."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractItemView,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QGraphicsView,
    QHeaderView,
    QLabel,
    QLineEdit,
    QMenu,
    QMenuBar,
    QPlainTextEdit,
    QTabBar,
    QTextEdit,
    QWidget,
)

MOST_STOPS = 400
"""More stops than any window has: Tab never came back."""


def spoken(widget: QWidget) -> tuple[str, QAccessible.Role]:
    """The name and the role that a screen reader is told."""
    interface = QAccessible.queryAccessibleInterface(widget)
    return interface.text(QAccessible.Text.Name).strip(), interface.role()


def described(widget: QWidget) -> str:
    """A widget, for whoever reads that a test failed."""
    name, role = spoken(widget)
    parent = widget.parentWidget()
    return f"{type(widget).__name__} {widget.objectName()!r} {name!r} {role.name} in {type(parent).__name__}"


def paints_itself(widget: QWidget) -> bool:
    """Whether a class of ours draws it, of which Qt can say nothing."""
    ours = [kind for kind in type(widget).__mro__ if kind.__module__.startswith("counterfoil_app")]
    return isinstance(widget, QGraphicsView) or any("paintEvent" in vars(kind) for kind in ours)


def controls(top: QWidget) -> Iterator[QWidget]:
    """What can be seen of a window and paints itself or takes the keyboard."""
    for widget in (top, *top.findChildren(QWidget)):
        if widget.window() is not top.window() or not widget.isVisible() or _is_inside_another(widget):
            continue
        if paints_itself(widget) or (widget.focusPolicy() & Qt.FocusPolicy.TabFocus and widget is not top):
            yield widget


def _is_inside_another(widget: QWidget) -> bool:
    """Parts of one control, which is the one that is named."""
    parent = widget.parentWidget()
    if isinstance(widget, (QMenu, QMenuBar)):
        return True
    if widget.focusProxy() is not None:
        return True
    return isinstance(parent, (QAbstractItemView, QHeaderView, QGraphicsView, QTextEdit, QPlainTextEdit)) or (
        isinstance(widget, QLineEdit) and isinstance(parent, (QAbstractSpinBox, QComboBox))
    )


def nameless(top: QWidget) -> list[str]:
    """The controls of a window of which a screen reader cannot say what they are."""
    return [described(widget) for widget in controls(top) if not spoken(widget)[0]]


def stops(top: QWidget) -> list[QWidget]:
    """Where Tab leads, from where the keyboard is until it is there again.

    Raises:
        AssertionError: It does not come back, or stays somewhere.
    """
    first = QApplication.focusWidget()
    assert first is not None, f"nothing in {type(top).__name__} has the keyboard"
    found = [first]
    for _ in range(MOST_STOPS):
        QTest.keyClick(found[-1], Qt.Key.Key_Tab)
        now = QApplication.focusWidget()
        assert now is not None
        assert now is not found[-1], f"Tab does not leave {described(now)}"
        assert now.window() is top.window(), f"Tab leads out of {type(top).__name__} to {described(now)}"
        if now is first:
            return found
        round_trip = [described(each) for each in found]
        assert now not in found, f"Tab goes round without {described(first)}: {described(now)}; {round_trip}"
        found.append(now)
    raise AssertionError(f"Tab does not come back to {described(first)}")


def check_stops(top: QWidget) -> list[QWidget]:
    """Go round by Tab: every stop has a name and a role, and nothing that the mouse reaches is left out."""
    found = stops(top)
    for stop in found:
        name, role = spoken(stop)
        assert name, f"without a name: {described(stop)}"
        assert role is not QAccessible.Role.NoRole, f"without a role: {described(stop)}"
    left_out = [widget for widget in controls(top) if _wants_tab(widget) and widget not in found]
    assert not left_out, [described(widget) for widget in left_out]
    return found


def _wants_tab(widget: QWidget) -> bool:
    """Whether the mouse can do something with it; of radio buttons Tab reaches the chosen one, arrows the others."""
    if not widget.isEnabled() or widget.visibleRegion().isEmpty() or isinstance(widget, (QLabel, QTabBar)):
        return False
    group = (
        [each for each in widget.parentWidget().children() if type(each) is type(widget)] if _is_radio(widget) else []
    )
    return bool(widget.focusPolicy() & Qt.FocusPolicy.TabFocus) and not (len(group) > 1)


def _is_radio(widget: QWidget) -> bool:
    return spoken(widget)[1] is QAccessible.Role.RadioButton
