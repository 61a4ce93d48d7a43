import pytest

import tool
from airlock_tool.testing import FailedError, Host


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tool, "COUNTER", tool.Counter())


def test_it_counts_what_was_applied() -> None:
    host = Host(tool)
    assert host.call("counter", by=2).text == "The counter is 0, and would be 2."
    assert host.call("counter", by=3).text == "The counter is 0, and would be 3."
    assert host.apply("why not").text == "The counter is 3. Reason: why not"
    assert host.discard().text == "The counter stays at 3."
    assert host.call("counter").details == tool.Counter(value=3, applied=1)


def test_an_increment_is_gone_with_its_instance() -> None:
    host = Host(tool)
    host.call("counter")
    host.restart()
    with pytest.raises(FailedError, match="it was in the memory of another instance"):
        host.apply()
