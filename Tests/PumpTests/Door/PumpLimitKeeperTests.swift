import Foundation
import Logging
import Pump
import Store
import Tactus
import TestSupport
import Testing
import WallTime

@testable import PumpDaemon
@testable import Service

/// A pump, its operator side and a store, over restarts of the program and of the machine.
private final class RestartedPump {
  private let folder: String
  private var file: StoreFile
  private let settings: PumpOperatorSettings
  private var keeper: PumpLimitKeeper
  private(set) var machine: PumpOperatorMachine
  private(set) var now = TickInstant.zero
  private var boot = 1
  /// Of the boot's clock against ours, which never stands still here.
  private var bootedAt = TickInstant.zero
  /// The real pump.
  private(set) var isPumping = false
  private(set) var pumped = Nanoseconds.zero
  private var stillSince = TickInstant.zero
  private(set) var most = Nanoseconds.zero

  init(limit: Nanoseconds, rest: Nanoseconds) throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "tactus-limit-\(UUID().uuidString.prefix(8))").path
    (file, _) = try StoreFile.open(
      folder + "/store.sqlite", systems: [.pump], at: WallInstant(secondsSince1970: 1_790_000_000))
    settings = try PumpOperatorSettings(runLimit: limit, rest: rest)
    keeper = Self.keeper(file, boot)
    machine = PumpOperatorMachine(settings)
    step(.linked)
  }

  deinit {
    try? file.close()
    try? FileManager.default.removeItem(atPath: folder)
  }

  private static func keeper(_ file: StoreFile, _ boot: Int) -> PumpLimitKeeper {
    PumpLimitKeeper(
      PumpStore(file), boot: BootID("\(boot)"),
      logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
  }

  private var bootNow: TickInstant { TickInstant(nanoseconds: (now - bootedAt).count) }

  private func pass(to instant: TickInstant) {
    if isPumping {
      pumped = pumped + (instant - now)
      most = max(most, pumped)
    } else if instant - stillSince >= settings.rest {
      pumped = .zero
    }
    now = instant
  }

  /// The pump turns on or off.
  func turn(_ isOn: Bool) {
    guard isOn != isPumping else { return }
    if isOn, now - stillSince >= settings.rest { pumped = .zero }
    isPumping = isOn
    stillSince = now
  }

  @discardableResult
  func step(_ order: PumpOrder) -> PumpVerdict { step(.order(order)) }

  @discardableResult
  func step(_ event: PumpOperatorEvent) -> PumpVerdict {
    let action = machine.step(event, at: now)
    // As the daemon: what has changed is kept, and it answers afterwards.
    keeper.keep(machine.governor, now: now, bootNow: bootNow)
    switch action.command {
    case .on?:
      turn(true)
      step(.reply(.pump(isOn: true)))
    case .off?:
      turn(false)
      step(.reply(.pump(isOn: false)))
    case .status?: step(.reply(.status(PumpStatus(state: isPumping ? .on : .off))))
    default: break
    }
    return action.verdict
  }

  func run(for span: Nanoseconds) {
    let end = now + span
    while let due = machine.nextDeadline, due <= end {
      pass(to: max(now, due))
      step(.tick)
    }
    pass(to: end)
  }

  /// The program dies; the guard turns the pump off, unless it cannot reach it.
  ///
  /// - Parameter losesStore: its disk cannot be used at the next start, until `openStore`.
  func die(guardReaches: Bool, down: Nanoseconds, isReboot: Bool, losesStore: Bool = false) throws {
    if guardReaches { turn(false) }
    pass(to: now + down)
    if isReboot {
      boot += 1
      bootedAt = now
    }
    if losesStore {
      if file.isOpen { try file.close() }
      file = StoreFile(folder + "/store.sqlite", systems: [.pump], mounts: MountWatch(named: "/"))
    }
    keeper = Self.keeper(file, boot)
    machine = PumpOperatorMachine(
      settings, governor: keeper.resume(settings.governor(), now: now, bootNow: bootNow))
    step(.linked)
  }

  var left: Nanoseconds { machine.governor.left(at: now) }
  var lastEnd: String { get throws { try keeper.lastEnd } }

  func openStore() throws { _ = try file.open(at: WallInstant(secondsSince1970: 1_790_000_000)) }
}

@Suite("the pump's run limit over restarts", .ownThread)
struct PumpLimitKeeperTests {
  @Test("20 s left, then the program is killed: at most 20 s are left, then ON is refused until the pump has rested")
  func killed() throws {
    let pump = try RestartedPump(limit: .seconds(60), rest: .seconds(300))
    #expect(pump.step(.turnOn(nil)) == .accepted)
    pump.run(for: .seconds(40))
    #expect(pump.left == .seconds(20))
    try pump.die(guardReaches: true, down: .seconds(3), isReboot: false)
    #expect(try pump.left == .seconds(17) && pump.lastEnd == "crash")
    #expect(pump.step(.turnOn(nil)) == .accepted)
    pump.run(for: .seconds(17))
    #expect(!pump.isPumping && pump.machine.state == .fault(.runLimit, .confirmed))
    try pump.die(guardReaches: true, down: .seconds(3), isReboot: false)
    #expect(pump.step(.turnOn(nil)) == .refused(.mustRest))
    pump.run(for: .seconds(296))
    #expect(pump.step(.turnOn(nil)) == .refused(.mustRest))
    pump.run(for: .seconds(1))
    #expect(pump.step(.turnOn(nil)) == .accepted && pump.left == .seconds(60))
  }

  @Test("device role, killed while on: charged until it is off again; spent, it is not startable until it has rested")
  func device() throws {
    let settings = try PumpDeviceSettings(runLimit: .seconds(60), rest: .seconds(300))
    var governor = settings.governor()
    governor.resume(isPumping: true, since: .zero + .seconds(100), before: .seconds(10))
    var now = TickInstant.zero + .seconds(130)
    var machine = PumpDeviceMachine(settings, governor: governor)
    _ = machine.step(.tick, at: now)
    #expect(machine.governor.left(at: now) == .seconds(20))
    #expect(machine.step(.command(.on), at: now).output == .run(settings.initialSpeed))
    now = now + .seconds(20)
    #expect(machine.step(.tick, at: now).output == .off)
    _ = machine.step(.offConfirmed, at: now)
    // Another restart, and OFF leads out of the error: the limit is still spent.
    machine = PumpDeviceMachine(settings, governor: machine.governor)
    _ = machine.step(.command(.off), at: now)
    #expect(machine.step(.command(.on), at: now).refusal == .mustRest)
    #expect(machine.step(.command(.on), at: now + .seconds(299)).refusal == .mustRest)
    #expect(machine.step(.command(.on), at: now + .seconds(300)).output == .run(settings.initialSpeed))
  }

  @Test(
    "device role, on for a minute: off to the nanosecond, and its operator is told; no longer than its limit leaves")
  func deviceTimed() throws {
    var machine = PumpDeviceMachine(try PumpDeviceSettings(runLimit: .seconds(90)))
    _ = machine.step(.offConfirmed, at: .zero)
    #expect(machine.step(.runTime(.seconds(60)), at: .zero).refusal == .notRunning)
    _ = machine.step(.command(.on), at: .zero)
    #expect(machine.step(.runTime(.seconds(91)), at: .zero).refusal == .beyondLimit)
    #expect(machine.step(.runTime(.seconds(60)), at: .zero).refusal == nil)
    let end = TickInstant.seconds(60)
    _ = machine.step(.tick, at: .seconds(59))
    #expect(machine.runEnds == end)
    let action = machine.step(.tick, at: end)
    #expect(action.output == .off && machine.state == .off(.pending) && machine.runEnds == nil)
    #expect(action.replies.count == 1 && action.replies[0] == .pump(isOn: false))
  }

  @Test("spent before a restart: a person may reset it, as before")
  func reset() throws {
    let pump = try RestartedPump(limit: .seconds(60), rest: .seconds(300))
    pump.step(.turnOn(nil))
    pump.run(for: .seconds(60))
    try pump.die(guardReaches: true, down: .seconds(3), isReboot: false)
    #expect(pump.step(.turnOn(nil)) == .refused(.mustRest))
    #expect(pump.step(.reset) == .accepted)
    #expect(pump.step(.turnOn(nil)) == .accepted)
  }

  @Test(
    "a power cut while it pumps: nobody knows for how long it went on, so the limit is spent; while it rests: the rest begins anew"
  )
  func powerCut() throws {
    let pump = try RestartedPump(limit: .seconds(60), rest: .seconds(300))
    pump.step(.turnOn(nil))
    pump.run(for: .seconds(10))
    pump.step(.turnOff)
    pump.run(for: .seconds(100))
    try pump.die(guardReaches: true, down: .seconds(100), isReboot: true)
    #expect(try pump.left == .seconds(50) && pump.lastEnd == "power-cut")
    #expect(pump.step(.turnOn(nil)) == .accepted)
    pump.run(for: .seconds(1))
    try pump.die(guardReaches: true, down: .seconds(1), isReboot: true)
    #expect(pump.left == .zero)
    #expect(pump.step(.turnOn(nil)) == .refused(.mustRest))
  }

  @Test(
    "started without the store: the limit is spent, so that no such start gives it anew; it rests or is reset, and then starts"
  )
  func withoutStore() throws {
    let pump = try RestartedPump(limit: .seconds(60), rest: .seconds(300))
    pump.step(.turnOn(nil))
    pump.run(for: .seconds(40))
    try pump.die(guardReaches: true, down: .seconds(3), isReboot: false, losesStore: true)
    #expect(pump.left == .zero && pump.step(.turnOn(nil)) == .refused(.mustRest))
    pump.run(for: .seconds(100))
    // What is opened later has an older state, and does not count.
    try pump.openStore()
    #expect(pump.step(.turnOn(nil)) == .refused(.mustRest))
    #expect(try pump.lastEnd == "crash", "what the last process left, not what this one writes")
    try pump.die(guardReaches: true, down: .zero, isReboot: false)
    #expect(pump.left == .zero)
    pump.run(for: .seconds(200))
    #expect(pump.step(.turnOn(nil)) == .accepted && pump.left == .seconds(60))
    pump.run(for: .seconds(60))
    try pump.die(guardReaches: true, down: .seconds(3), isReboot: false, losesStore: true)
    #expect(pump.step(.reset) == .accepted)
    #expect(pump.step(.turnOn(nil)) == .accepted)
  }

  @Test(
    "100 random histories of ON, OFF, deaths and power cuts: the pump never pumps longer than its limit between two rests"
  )
  func neverLonger() throws {
    for seed in UInt64(1)...100 {
      var random = SplitMix64(seed: seed)
      let limit = Nanoseconds.seconds(60 + Int64(random.below(120)))
      let pump = try RestartedPump(limit: limit, rest: .seconds(100))
      for _ in 0..<40 {
        pump.run(for: .milliseconds(Int64(random.below(40_000))))
        switch random.below(8) {
        case 0...3: pump.step(.turnOn(nil))
        case 4: pump.step(.turnOff)
        case 5...6:
          let reaches = random.below(4) != 0
          // While nobody can turn it off, it is the pump's own limit that stops it.
          let down = Nanoseconds.milliseconds(Int64(random.below(reaches ? 200_000 : 1_000)))
          try pump.die(guardReaches: reaches, down: down, isReboot: false)
        default: try pump.die(guardReaches: true, down: .seconds(Int64(random.below(200))), isReboot: true)
        }
      }
      // One that ran on without us is turned off by the first answer at the latest.
      #expect(pump.most <= limit + .seconds(1), "seed \(seed): \(pump.most) of \(limit)")
    }
  }
}
