"""What is known of the objects of one kind, by name and by whatever else they are looked up by."""

from __future__ import annotations

from collections.abc import Callable, Hashable, ItemsView, Iterable, Iterator

from npa.render.objects import Object, dig, name_of

Name = tuple[str, str]  # namespace ("" for global kinds), name
Index = Callable[[Object], Iterable[Hashable]]


def name(found: Object) -> Name:
    """Return an object's namespace and name."""
    return str(dig(found, "metadata", "namespace") or ""), name_of(found)


def version(found: Object) -> int:
    """Return an object's resource version as a number; 0 where it is none.

    Kubernetes says since 1.35 that versions of one kind may be compared, and every etcd before did the same.
    """
    text = str(dig(found, "metadata", "resourceVersion") or "")
    return int(text) if text.isdecimal() else 0


class Store:
    """The objects of one kind, the newest that was seen of each."""

    def __init__(self, index: Index = lambda _: ()) -> None:
        self._index = index
        self._objects: dict[Name, Object] = {}
        self._entries: dict[Hashable, dict[Name, Object]] = {}
        self._versions: dict[Name, int] = {}

    def __len__(self) -> int:
        return len(self._objects)

    def __iter__(self) -> Iterator[Object]:
        return iter(list(self._objects.values()))

    def get(self, namespace: str, called: str) -> Object | None:
        """Return an object by name."""
        return self._objects.get((namespace, called))

    def by(self, entry: Hashable) -> tuple[Object, ...]:
        """Return the objects that the index puts under an entry."""
        return tuple(self._entries.get(entry, {}).values())

    def named(self, entry: Hashable) -> ItemsView[Name, Object]:
        """Return the same with their names, which take a while to read from many; not to be kept."""
        return self._entries.get(entry, {}).items()

    def items(self) -> ItemsView[Name, Object]:
        """Return all objects with their names; not to be kept."""
        return self._objects.items()

    def put(self, found: Object, seen: int = 0) -> Object | None:
        """Keep an object unless a newer one is kept; returns what it replaces, itself where it is older.

        `seen` is its version where the object itself no longer says so.
        """
        key, newest = name(found), seen or version(found)
        old = self._objects.get(key)
        if old is not None and newest and newest <= self._versions[key]:
            return found
        if old is not None:
            self._unlink(key, old)
        self._objects[key], self._versions[key] = found, newest
        for entry in self._index(found):
            self._entries.setdefault(entry, {})[key] = found
        return old

    def remove(self, found: Object) -> Object | None:
        """Forget an object; returns what was kept of it. One of the same name and another uid stays."""
        key = name(found)
        old = self._objects.get(key)
        uids = [dig(each, "metadata", "uid") for each in (old, found)]
        if old is None or (all(uids) and uids[0] != uids[1]):
            return None
        self._unlink(key, old)
        del self._objects[key], self._versions[key]
        return old

    def _unlink(self, key: Name, old: Object) -> None:
        for entry in self._index(old):
            under = self._entries.get(entry, {})
            under.pop(key, None)
            if not under:
                self._entries.pop(entry, None)
