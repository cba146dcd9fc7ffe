"""A client that openapi-python-client has made of the daemon's own document: every module of it, and every system through it."""
import pytest

from generated_client import GeneratedClient


@pytest.fixture(scope="module")
def all_of_it(tmp_path_factory):
    """A daemon with every system, and a client of it."""
    from daemon import Daemon

    folder = tmp_path_factory.mktemp("generated")
    with Daemon(folder, more="pump: {backend: sim}\nvideo: {}\nmqtt: {device: test, port: 1}\n") as daemon:
        yield daemon, GeneratedClient(daemon, folder, "tactus_of_this_test")


def test_every_module_is_there_and_can_be_imported(all_of_it):
    daemon, client = all_of_it
    document = daemon.get("/api/openapi.json").json()
    operations = [one["operationId"] for path in document["paths"].values() for one in path.values() if "operationId" in one]
    made = {module.__name__.rsplit(".", 1)[1].replace("_", "") for module in client.modules}
    assert {name.lower() for name in operations} <= made
    models = dir(client.models)
    assert {"Robot", "Legs", "Sprinkler", "Pump", "Plants", "Video", "Status", "Error"} <= set(models)


@pytest.mark.parametrize("operation, state", [
    ("robot.get_robot", "stopped"), ("leg.get_legs", "disarmed"), ("sprinkler.get_sprinkler", "idle"), ("pump.get_pump", "off"),
    ("plants.get_plants", "ok"), ("video.get_video", "idle")])
def test_state_of_each_system(all_of_it, operation, state):
    found = all_of_it[1].call(operation)
    assert found.ok is True and found.state == state, found
    # What it has parsed it can write again.
    assert found.to_dict()["state"] == state


def test_status_has_every_system(all_of_it):
    status = all_of_it[1].call("daemon.get_status")
    assert status.ok is True
    systems = status.systems.to_dict()
    assert {name: system["state"] for name, system in systems.items()} == {
        "robot": "stopped", "leg": "disarmed", "sprinkler": "idle", "pump": "off", "plants": "ok", "video": "idle"}


@pytest.mark.parametrize("operation, arguments", [
    ("robot.drive_robot", {"body": {"left": 0, "right": 0}}), ("robot.stop_robot", {}), ("leg.disarm_legs", {}),
    ("sprinkler.turn_zone_off", {"id": 1}), ("pump.turn_off_pump", {}), ("plants.get_plant_sensors", {}),
    ("video.get_cameras", {}), ("logs.set_log_level", {"body": {"level": "info"}}), ("runtime.get_runtime", {}),
    ("sprinkler.get_schedules", {}), ("logs.export_logs", {}), ("sprinkler.back_up_sprinkler", {})])
def test_a_harmless_command_of_each(all_of_it, operation, arguments):
    assert all_of_it[1].call(operation, **arguments)


def test_a_plant_and_a_schedule_made_changed_and_removed(all_of_it):
    client = all_of_it[1]
    plant = client.call("plants.add_plant", body={"name": "Basil", "sensors": ["0x36"]}).plant
    assert client.call("plants.get_plants").plants[0].name == "Basil"
    assert client.call("plants.remove_plant", id=plant.id).ok is True
    assert client.call("sprinkler.get_zones").zones[0].id == 1
    client.call("sprinkler.set_rain_delay", body={"hours": 24})
    assert client.call("sprinkler.get_sprinkler").rain_delay.active is True
    client.call("sprinkler.end_rain_delay")


def test_a_refusal_is_an_error_of_the_documents(all_of_it):
    daemon, client = all_of_it
    module = next(module for module in client.modules if module.__name__.endswith(".api.robot.drive_robot"))
    body = client.model(module).from_dict({"left": 300, "right": 0})
    answer = module.sync_detailed(client=client.session, body=body)
    assert answer.status_code == 422 and answer.parsed.ok is False and answer.parsed.field == "left"
