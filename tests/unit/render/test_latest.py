from __future__ import annotations

from npa.render import latest


def test_the_same_question_is_answered_once_and_another_anew() -> None:
    made: list[list[int]] = []

    @latest.answers(2, of=lambda numbers: "a" if numbers else "b")
    def total(numbers: list[int]) -> int:
        made.append(numbers)
        return sum(numbers)

    assert [total([1]), total([1]), total([2]), total([1])] == [1, 1, 2, 1]
    assert made == [[1], [2], [1]]


def test_only_so_many_things_are_remembered() -> None:
    made: list[str] = []

    @latest.answers(2, of=lambda name: name)
    def shout(name: str) -> str:
        made.append(name)
        return name.upper()

    for name in ("a", "b", "a", "c", "a", "b"):
        assert shout(name) == name.upper()
    assert made == ["a", "b", "c", "b"]
