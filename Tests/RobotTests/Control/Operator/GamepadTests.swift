import TestSupport
import Testing
import Wire

@testable import Robot

@Suite(.ownThread) struct GamepadTests {
  private func axis(_ value: Int32 = 0) -> GamepadAxis {
    GamepadAxis(minimum: -32_768, maximum: 32_767, flat: 128, value: value)!
  }

  private func gamepad(x: Int32 = 0, y: Int32 = 0, _ reach: Gamepad.Reach = .percent) -> Gamepad {
    Gamepad(x: axis(x), y: axis(y), reach: reach)
  }

  private func press(_ button: UInt16, _ value: Int32 = 1) -> InputEvent {
    InputEvent(type: 1, code: button, value: value)
  }

  private func joystick(_ gamepad: Gamepad) -> (x: Double, y: Double)? {
    if case .joystick(let x, let y) = gamepad.input { (x, y) } else { nil }
  }

  @Test("axis: 0 within the dead zone, rising from 0 at its edge to 1 at the end, and no further")
  func deadZone() {
    var axis = GamepadAxis(minimum: 0, maximum: 200, flat: 0, value: 100)!
    func position(_ value: Int32) -> Double {
      axis.move(to: value)
      return axis.position
    }
    #expect(position(100) == 0 && position(110) == 0 && position(90) == 0)
    #expect(position(111) > 0 && position(111) < 0.02)
    #expect(position(200) == 1 && position(0) == -1)
    #expect((position(155) - 0.5).magnitude < 1e-9 && (position(45) + 0.5).magnitude < 1e-9)
    #expect(position(.max) == 1 && position(.min) == -1)
  }

  @Test("axis: the device's own flat part counts if it is larger; a range that is none is no axis")
  func flat() {
    var wide = GamepadAxis(minimum: 0, maximum: 255, flat: 60, value: 187)!
    #expect(wide.position == 0)
    wide.move(to: 200)
    #expect(wide.position > 0)
    #expect(GamepadAxis(minimum: 5, maximum: 5, flat: 0, value: 5) == nil)
    #expect(GamepadAxis(minimum: 6, maximum: 5, flat: 0, value: 5) == nil)
    let widest = GamepadAxis(minimum: .min, maximum: .max, flat: .max, value: .max)!
    #expect(widest.position == 1)
  }

  @Test("stick: away from the operator is forward, right is right, released is at rest")
  func stick() {
    var gamepad = gamepad()
    #expect(gamepad.input == .rest)
    _ = gamepad.receive(InputEvent(type: 3, code: 1, value: -32_768))
    #expect(gamepad.input == .joystick(x: 0, y: 1) && gamepad.input.speeds == speeds(100, 100))
    _ = gamepad.receive(InputEvent(type: 3, code: 1, value: 0))
    _ = gamepad.receive(InputEvent(type: 3, code: 0, value: 32_767))
    #expect(gamepad.input.speeds == speeds(100, -100))
    _ = gamepad.receive(InputEvent(type: 3, code: 0, value: 900))
    #expect(gamepad.input == .rest)
  }

  @Test("stick in SI units: full stick is what was given, to the right a negative turn")
  func units() {
    var gamepad = gamepad(.si(Twist(metresPerSecond: 0.4, radiansPerSecond: 2)))
    _ = gamepad.receive(InputEvent(type: 3, code: 1, value: 32_767))
    _ = gamepad.receive(InputEvent(type: 3, code: 0, value: 32_767))
    #expect(gamepad.input == .twist(Twist(metresPerSecond: -0.4, radiansPerSecond: -2)))
  }

  @Test("a stick that is held at the start drives nothing until it has been released")
  func heldAtStart() {
    var gamepad = gamepad(y: -32_768)
    #expect(gamepad.input == .rest)
    _ = gamepad.receive(InputEvent(type: 3, code: 1, value: -20_000))
    #expect(gamepad.input == .rest)
    _ = gamepad.receive(InputEvent(type: 3, code: 1, value: 0))
    _ = gamepad.receive(InputEvent(type: 3, code: 1, value: -32_768))
    #expect(gamepad.input == .joystick(x: 0, y: 1))
  }

  @Test("the robot does not answer: the stick asks for nothing, nor when it answers again, until it has been released")
  func silence() {
    var gamepad = gamepad()
    _ = gamepad.receive(InputEvent(type: 3, code: 1, value: -32_768))
    gamepad.isOff = true
    #expect(gamepad.input == .rest)
    gamepad.isOff = false
    #expect(gamepad.input == .rest)
    _ = gamepad.receive(InputEvent(type: 3, code: 1, value: 0))
    _ = gamepad.receive(InputEvent(type: 3, code: 1, value: -32_768))
    #expect(gamepad.input == .joystick(x: 0, y: 1))
    gamepad.isOff = true
    _ = gamepad.receive(InputEvent(type: 3, code: 1, value: 0))
    gamepad.isOff = false
    _ = gamepad.receive(InputEvent(type: 3, code: 1, value: -32_768))
    #expect(gamepad.input == .joystick(x: 0, y: 1), "released while it was off")
  }

  @Test("buttons: A stops, B is the emergency stop, Start resets, at the press alone; dropped events are read again")
  func buttons() {
    var gamepad = gamepad()
    #expect(gamepad.receive(press(0x130)) == .ask(.stop))
    #expect(gamepad.receive(press(0x131)) == .ask(.emergencyStop))
    #expect(gamepad.receive(press(0x13B)) == .ask(.reset))
    for value in [Int32(0), 2] {
      for button in [UInt16(0x130), 0x131, 0x13B] { #expect(gamepad.receive(press(button, value)) == nil) }
    }
    #expect(gamepad.receive(press(0x133)) == nil)
    #expect(gamepad.receive(InputEvent(type: 0, code: 3, value: 0)) == .readAgain)
    #expect(gamepad.receive(InputEvent(type: 0, code: 0, value: 0)) == nil)
    #expect(gamepad.receive(InputEvent(type: 3, code: 5, value: 32_767)) == nil && gamepad.input == .rest)
  }

  @Test("bytes: whole events and nothing else; kind, number and value stand behind the time")
  func bytes() {
    let one: [UInt8] = [UInt8](repeating: 0xEE, count: InputEvent.length - 8) + [3, 0, 1, 0, 0x00, 0x80, 0xFF, 0xFF]
    func decode(_ bytes: [UInt8]) -> [InputEvent]? { bytes.withUnsafeBytes { InputEvent.decode($0) } }
    let event = InputEvent(type: 3, code: 1, value: -32_768)
    #expect(decode(one) == [event])
    #expect(decode(one + one) == [event, event])
    #expect(decode([]) == [])
    for length in 1..<one.count { #expect(decode(Array(one.prefix(length))) == nil) }
    #expect(decode(Array(repeating: one, count: 65).flatMap { $0 }) == nil)
  }
}
