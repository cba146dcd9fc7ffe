import Devices
import Tactus
import TestSupport
import Testing

@testable import Robot

/// Fittings stepped by hand at instants in milliseconds, on a board that takes what it is told unless it is told not to.
private struct Bench {
  var fittings: Fittings
  var state = RobotState.stopped(Standstill(reason: .start, confirmation: .confirmed, holder: nil))
  var lean: Double?
  var most: Int?
  var takes = true
  var period = Nanoseconds.milliseconds(50)

  init(_ board: RobotBoard, mount: CameraMountSettings? = nil) {
    fittings = Fittings(board, mount: mount ?? .standard(board))
  }

  mutating func order(_ order: FittingOrder, at milliseconds: Int64) -> IgnoreReason? {
    let verdict = fittings.obey(order, in: state, lean: lean, most: most, at: .milliseconds(milliseconds))
    if case .ignored(let reason) = verdict { return reason }
    return nil
  }

  /// The write of a tick, or `nil` if there is none.
  mutating func tick(_ milliseconds: Int64) -> FittingWrite? {
    let now = TickInstant.milliseconds(milliseconds)
    guard let write = fittings.next(period: period, at: now) else { return nil }
    if takes { fittings.took(write, at: now) } else { fittings.failed(write) }
    return write
  }
}

private let emergencyStopped = RobotState.emergencyStopped(
  EmergencyStop(by: .local(1), confirmation: .confirmed, fault: nil))
private let fault = RobotState.fault(Fault(cause: .missedReleases(3), confirmation: .confirmed))

@Suite(.ownThread) struct FittingsTests {
  @Test("an order that the board cannot do is refused by what is missing, and tells the board nothing")
  func abilities() {
    let orders: [(FittingOrder, IgnoreReason)] = [
      (.look(pan: 90, tilt: nil), .noPanTilt), (.light(LightColour(red: 1), light: nil), .noLights),
      (.beep(.seconds(1)), .noBuzzer), (.height(millimetres: 90), .noHeight), (.balance(true), .noBalance),
    ]
    for board in RobotBoard.allCases {
      for (order, reason) in orders {
        var bench = Bench(board)
        _ = bench.tick(0)  // the buzzer's first silence
        let can = board.can(order.ability)
        #expect(bench.order(order, at: 10) == (can ? nil : reason))
        #expect((bench.tick(50) != nil) == can)
      }
    }
    #expect(RobotBoard.ybPcbCar.abilities == [.panTilt])
    #expect(RobotBoard.raspbotV2.abilities == [.panTilt, .lights, .buzzer, .line, .distance])
    #expect(RobotBoard.xgoRider.abilities == [.battery, .attitude, .height, .balance])
  }

  @Test(
    "look: the first angle at once, then at the rate, whatever the ticks; another order under way turns round where it is"
  )
  func rate() {
    var bench = Bench(.ybPcbCar)
    #expect(bench.order(.look(pan: 90, tilt: nil), at: 0) == nil)
    #expect(bench.tick(50) == .pan(degrees: 90, wired: 90))
    #expect(bench.tick(100) == nil)
    #expect(bench.order(.look(pan: 130, tilt: nil), at: 120) == nil)
    // 180 degrees a second: 5.4 by 150 ms, 14.4 by 200 ms.
    #expect(bench.tick(150) == .pan(degrees: 95, wired: 95))
    #expect(bench.tick(200) == .pan(degrees: 104, wired: 104))
    #expect(bench.order(.look(pan: 90, tilt: nil), at: 210) == nil)
    #expect(bench.tick(250) == .pan(degrees: 95, wired: 95))
    #expect(bench.tick(300) == .pan(degrees: 90, wired: 90))
    #expect(bench.tick(350) == nil && bench.fittings.pan.target == 90 && bench.fittings.tilt.told == nil)
  }

  @Test(
    "look: over a way of 120 degrees a servo takes as long as its rate says, at 5 and at 1000 ticks a second",
    arguments: [200, 1])
  func duration(period: Int64) {
    var bench = Bench(
      .ybPcbCar, mount: .init(pan: .init(highest: 180), tilt: .init(highest: 180), degreesPerSecond: 60))
    bench.period = .milliseconds(period)
    _ = bench.order(.look(pan: 30, tilt: nil), at: 0)
    _ = bench.tick(0)
    _ = bench.order(.look(pan: 150, tilt: nil), at: 1_000)
    var (time, last) = (Int64(1_000), Int64(0))
    while time < 5_000 {
      time += period
      if bench.tick(time) != nil { last = time }
    }
    #expect((3_000...3_000 + period).contains(last) && bench.fittings.pan.told == 150)
  }

  @Test("look: pan and tilt take turns, one write a tick; a servo that is not asked for stays")
  func turns() {
    var bench = Bench(.ybPcbCar)
    _ = bench.order(.look(pan: 90, tilt: 90), at: 0)
    #expect([bench.tick(50), bench.tick(100), bench.tick(150)].compactMap { $0 }.count == 2)
    _ = bench.order(.look(pan: 0, tilt: 0), at: 150)
    let kinds = stride(from: Int64(200), through: 500, by: 50).map { bench.tick($0) }
    for (one, next) in zip(kinds, kinds.dropFirst()) {
      guard case .pan = one else { continue }
      if case .pan = next { Issue.record("pan had two turns in a row") }
    }
  }

  @Test(
    "look beyond the limits: refused whole, nothing turns; an inverted servo is told the angle mirrored within its limits"
  )
  func limits() {
    let mount = CameraMountSettings(
      pan: .init(lowest: 20, highest: 160, isInverted: true), tilt: .init(highest: 100), degreesPerSecond: 720)
    var bench = Bench(.ybPcbCar, mount: mount)
    for (pan, tilt) in [(19, 50), (161, 50), (90, 101), (90, -1)] {
      #expect(bench.order(.look(pan: pan, tilt: tilt), at: 0) == .beyondLimits)
    }
    #expect(bench.tick(50) == nil)
    #expect(bench.order(.look(pan: 20, tilt: nil), at: 60) == nil)
    #expect(bench.tick(100) == .pan(degrees: 20, wired: 160))
    #expect(CameraMountSettings.standard(.raspbotV2).tilt.highest == 100)
  }

  @Test(
    "emergency stop and fault: the mount stays where it was last told to be, and look, height and balance are refused")
  func halt() {
    for (state, reason) in [(emergencyStopped, IgnoreReason.emergencyStopped), (fault, .inFault)] {
      var bench = Bench(.ybPcbCar)
      _ = bench.order(.look(pan: 90, tilt: 90), at: 0)
      for time in [50, 100] as [Int64] { _ = bench.tick(time) }
      _ = bench.order(.look(pan: 180, tilt: 0), at: 100)
      _ = bench.tick(150)
      let told = (bench.fittings.pan.told, bench.fittings.tilt.told)
      bench.state = state
      bench.fittings.halt()
      #expect(bench.order(.look(pan: 10, tilt: nil), at: 160) == reason)
      for time in stride(from: Int64(200), through: 2_000, by: 50) { #expect(bench.tick(time) == nil) }
      #expect(bench.fittings.pan.told == told.0 && bench.fittings.tilt.told == told.1)
      #expect(bench.fittings.pan.target == told.0)
      // It does not go on by itself after a reset either.
      bench.state = Bench(.ybPcbCar).state
      #expect(bench.tick(2_050) == nil)

      var rider = Bench(.xgoRider)
      _ = rider.order(.height(millimetres: 80), at: 0)
      rider.state = state
      rider.fittings.halt()
      #expect(rider.tick(50) == nil, "an order that the board has not taken yet is dropped")
      #expect(rider.order(.height(millimetres: 80), at: 60) == reason && rider.order(.balance(false), at: 60) == reason)
    }
  }

  @Test("emergency stop and fault: lights and beeps are obeyed; after shutdown nothing is")
  func signals() {
    var bench = Bench(.raspbotV2)
    for state in [emergencyStopped, fault] {
      bench.state = state
      #expect(bench.order(.light(LightColour(red: 9), light: nil), at: 0) == nil)
      #expect(bench.order(.beep(.milliseconds(100)), at: 0) == nil)
    }
    bench.state = .shutDown(.confirmed)
    for order in [FittingOrder.look(pan: 1, tilt: 1), .light(LightColour(), light: nil), .beep(.seconds(1))] {
      #expect(bench.order(order, at: 10) == .shutDown)
    }
  }

  @Test("the board does not answer for ten seconds: the servo goes on from where it is and does not jump")
  func outage() {
    var bench = Bench(.ybPcbCar)
    _ = bench.order(.look(pan: 0, tilt: nil), at: 0)
    _ = bench.tick(50)
    _ = bench.order(.look(pan: 180, tilt: nil), at: 50)
    bench.takes = false
    for time in stride(from: Int64(100), through: 10_000, by: 50) { _ = bench.tick(time) }
    #expect(bench.fittings.pan.told == 0)
    bench.takes = true
    #expect(bench.tick(10_050) == .pan(degrees: 28, wired: 28), "three ticks of 9 degrees, and one")
  }

  @Test("beep: off first, on at the next tick, off at the first tick after its end; a new one replaces what is left")
  func beep() {
    var bench = Bench(.raspbotV2)
    #expect(bench.tick(0) == .buzzer(isOn: false), "whatever it did before the program started")
    #expect(bench.tick(50) == nil)
    #expect(bench.order(.beep(.milliseconds(200)), at: 60) == nil)
    #expect(bench.tick(100) == .buzzer(isOn: true))
    #expect(bench.tick(250) == nil && bench.fittings.isBuzzing == true)
    #expect(bench.order(.beep(.milliseconds(100)), at: 255) == nil)
    #expect(bench.tick(300) == nil && bench.tick(350) == nil)
    #expect(bench.tick(355) == .buzzer(isOn: false))
    for time in stride(from: Int64(400), through: 1_000, by: 50) { #expect(bench.tick(time) == nil) }
    for duration in [Nanoseconds.milliseconds(49), .milliseconds(5_001), .zero, .seconds(-1)] {
      #expect(bench.order(.beep(duration), at: 1_000) == .beyondLimits)
    }
  }

  @Test(
    "beep: an off that the board does not take is told again at every tick; so is one after an on that may have arrived"
  )
  func beepFails() {
    var bench = Bench(.raspbotV2)
    _ = bench.tick(0)
    _ = bench.order(.beep(.milliseconds(100)), at: 10)
    _ = bench.tick(50)
    bench.takes = false
    for time in [110, 160, 210] as [Int64] { #expect(bench.tick(time) == .buzzer(isOn: false)) }
    bench.takes = true
    #expect(bench.tick(260) == .buzzer(isOn: false) && bench.tick(310) == nil)

    _ = bench.order(.beep(.milliseconds(100)), at: 400)
    bench.takes = false
    #expect(bench.tick(450) == .buzzer(isOn: true))
    bench.takes = true
    #expect(bench.tick(510) == .buzzer(isOn: false))
  }

  @Test("lights: all by one write, then only those that differ; a single one where nothing is known of the others")
  func lights() {
    let (red, blue) = (LightColour(red: 255), LightColour(blue: 7))
    var bench = Bench(.raspbotV2)
    _ = bench.tick(0)
    #expect(bench.order(.light(red, light: 13), at: 0) == nil)
    #expect(bench.tick(50) == .light(13, red) && bench.tick(100) == nil)
    #expect(bench.fittings.colour(of: 13) == red && bench.fittings.colour(of: 0) == nil)
    #expect(bench.order(.light(blue, light: nil), at: 100) == nil)
    #expect(bench.tick(150) == .allLights(blue) && bench.tick(200) == nil)
    _ = bench.order(.light(red, light: 0), at: 200)
    _ = bench.order(.light(red, light: 5), at: 200)
    #expect(bench.tick(250) == .light(0, red) && bench.tick(300) == .light(5, red) && bench.tick(350) == nil)
    for light in [-1, 14] { #expect(bench.order(.light(red, light: light), at: 350) == .beyondLimits) }
  }

  @Test("shutdown: the buzzer is told to be silent and the lights go off, once anybody has lit them; the mount stays")
  func shutDown() {
    var bench = Bench(.raspbotV2)
    _ = bench.tick(0)
    bench.fittings.shutDown()
    #expect(bench.tick(10) == .buzzer(isOn: false) && bench.tick(20) == nil)

    _ = bench.order(.light(LightColour(green: 1), light: 2), at: 30)
    _ = bench.tick(50)
    _ = bench.order(.look(pan: 40, tilt: nil), at: 60)
    _ = bench.order(.beep(.seconds(5)), at: 60)
    _ = bench.tick(100)
    bench.fittings.shutDown()
    #expect(bench.tick(110) == .buzzer(isOn: false) && bench.tick(120) == .allLights(LightColour()))
    #expect(bench.tick(130) == nil)
  }

  @Test(
    "a robot that leans too far keeps its height and its balance; upright it takes them",
    arguments: [nil, 20] as [Int?])
  func leaning(most: Int?) {
    var bench = Bench(.xgoRider)
    bench.most = most
    bench.lean = Double(most ?? 45) + 0.5
    #expect(bench.order(.height(millimetres: 100), at: 0) == .tilted && bench.order(.balance(false), at: 0) == .tilted)
    bench.lean = Double(most ?? 45)
    #expect(bench.order(.height(millimetres: 100), at: 0) == nil && bench.order(.balance(false), at: 0) == nil)
    #expect(Set([bench.tick(50), bench.tick(100)]) == [.height(millimetres: 100), .balance(false)])
    #expect(bench.tick(150) == nil && bench.fittings.height == 100 && bench.fittings.isBalancing == false)
    for height in [59.9, 120.1, .nan, .infinity] {
      #expect(bench.order(.height(millimetres: height), at: 200) == .beyondLimits)
    }
  }

  @Test(
    "20,000 random histories: one angle a tick within its limits, no step longer than the rate allows, none while halted, no beep beyond its end"
  )
  func random() {
    var generator = SplitMix64(seed: 1)
    for _ in 0..<20_000 {
      var bench = Bench(.raspbotV2)
      var (time, until, wasOn) = (Int64(0), Int64(-1), false)
      var told: Int?
      for _ in 0..<30 {
        time += Int64.random(in: 1...200, using: &generator)
        switch Int.random(in: 0..<8, using: &generator) {
        case 0...2:
          let (pan, tilt) = (Int.random(in: -5...185, using: &generator), Int.random(in: -5...115, using: &generator))
          let refusal = bench.order(.look(pan: pan, tilt: tilt), at: time)
          let isWithin = (0...180).contains(pan) && (0...100).contains(tilt)
          let isFree = if case .stopped = bench.state { true } else { false }
          #expect((refusal == nil) == (isWithin && isFree))
        case 3:
          let duration = Int64.random(in: 50...5_000, using: &generator)
          _ = bench.order(.beep(.milliseconds(duration)), at: time)
          until = time + duration
        case 4: bench.state = emergencyStopped
        case 5: bench.state = Bench(.raspbotV2).state
        case 6: bench.takes.toggle()
        default: break
        }
        let isHalted = if case .emergencyStopped = bench.state { true } else { false }
        if isHalted { bench.fittings.halt() }
        let write = bench.tick(time)
        switch write {
        case .pan(let degrees, _):
          #expect(!isHalted && (0...180).contains(degrees))
          if let told { #expect(abs(degrees - told) <= 28) }
          if bench.takes { told = degrees }
        case .tilt(let degrees, _): #expect(!isHalted && (0...100).contains(degrees))
        case .buzzer(let isOn):
          #expect(isOn == (time < until))
          wasOn = isOn
        default: break
        }
        if wasOn, time >= until, bench.takes {
          Issue.record("the buzzer sounds at \(time) ms, beyond its end at \(until) ms")
        }
      }
    }
  }
}
