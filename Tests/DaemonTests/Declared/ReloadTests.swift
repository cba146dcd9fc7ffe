import DaemonSupport
import Service
import Synchronization
import Tactus
import Testing

@testable import TactusDaemon

@Suite("a change of rules while loops run")
struct ReloadTests {
  private final class Loop: RulesChange {
    struct State {
      var isThere = false
      var progress = RulesProgress.waiting
      var said: [String] = []
    }
    let system: String
    let keys: [KeyChange]
    let state = Mutex(State())

    init(_ system: String) {
      self.system = system
      keys = [KeyChange("\(system).gain", from: .integer(1), to: .integer(2))]
    }

    func propose() { state.withLock { $0.said.append("propose") } }
    var isPrepared: Bool { state.withLock { $0.isThere } }
    func withdraw() { state.withLock { $0.said.append("withdraw") } }
    func commit() { state.withLock { $0.said.append("commit") } }
    var progress: RulesProgress { state.withLock { $0.progress } }
    var said: [String] { state.withLock { $0.said } }
  }

  private final class Outcome: Sendable {
    let result = Mutex<Result<ReloadRun.Done, APIError>?>(nil)
    var done: ReloadRun.Done? { result.withLock { try? $0?.get() } }
    var code: String? { result.withLock { if case .failure(let error)? = $0 { error.code } else { nil } } }
  }

  private func at(_ seconds: Int64) -> TickInstant { .zero + .seconds(seconds) }

  /// Whether it is over after the beat at this second.
  private func ends(_ run: inout ReloadRun, _ second: Int64) -> Bool { run.beat(at: at(second)) }

  @Test("nothing is told to any loop before every one has said that it is there")
  func everywhere() {
    let (one, other, outcome) = (Loop("one"), Loop("other"), Outcome())
    var taken = 0
    var run = ReloadRun(
      [one, other], at: at(0), taken: { taken += 1 }, complete: { result in outcome.result.withLock { $0 = result } })
    one.state.withLock { $0.isThere = true }
    #expect(ends(&run, 1) == false)
    #expect(one.said == ["propose"] && taken == 0)
    other.state.withLock { $0.isThere = true }
    #expect(ends(&run, 2) == false)
    #expect(one.said == ["propose", "commit"] && other.said == ["propose", "commit"] && taken == 1)
    one.state.withLock { $0.progress = .taken }
    other.state.withLock { $0.progress = .takenInPart }
    #expect(ends(&run, 3) == true)
    #expect(outcome.done?.keys.map(\.key) == ["one.gain", "other.gain"] && outcome.done?.waiting == ["other"])
    #expect(outcome.done?.late == [])
  }

  @Test("a loop that does not say so: everything is withdrawn, and it is named")
  func nowhere() {
    let (one, other, outcome) = (Loop("one"), Loop("other"), Outcome())
    var run = ReloadRun([one, other], at: at(0)) { result in outcome.result.withLock { $0 = result } }
    one.state.withLock { $0.isThere = true }
    #expect(ends(&run, 2) == false)
    #expect(ends(&run, 3) == true)
    #expect(outcome.code == "NOT_TAKEN")
    #expect(one.said == ["propose", "withdraw"] && other.said == ["propose", "withdraw"])
  }

  @Test("a loop that was told and does not tick: the change stands, and it is said to be late")
  func told() {
    let (one, outcome) = (Loop("one"), Outcome())
    var run = ReloadRun([one], at: at(0)) { result in outcome.result.withLock { $0 = result } }
    one.state.withLock { $0.isThere = true }
    #expect(ends(&run, 1) == false)
    #expect(ends(&run, 3) == false)
    #expect(ends(&run, 4) == true)
    #expect(outcome.done?.waiting == [] && outcome.done?.late == ["one"])
  }

  // MARK: the daemon stops

  @Test("the daemon stops before the loops are told: everything is withdrawn, and the caller hears why")
  func stoppedBefore() {
    let (one, other, outcome) = (Loop("one"), Loop("other"), Outcome())
    var run = ReloadRun([one, other], at: at(0)) { result in outcome.result.withLock { $0 = result } }
    one.state.withLock { $0.isThere = true }
    #expect(ends(&run, 1) == false)
    run.stop()
    #expect(outcome.code == "STOPPING")
    #expect(one.said == ["propose", "withdraw"] && other.said == ["propose", "withdraw"])
  }

  @Test("the daemon stops when the loops have been told: nothing is withdrawn, and the caller hears why")
  func stoppedAfter() {
    let (one, outcome) = (Loop("one"), Outcome())
    var run = ReloadRun([one], at: at(0)) { result in outcome.result.withLock { $0 = result } }
    one.state.withLock { $0.isThere = true }
    #expect(ends(&run, 1) == false && outcome.code == nil)
    run.stop()
    #expect(outcome.code == "STOPPING" && one.said == ["propose", "commit"])
  }

  private func reloader() throws -> Reloader {
    let taken = TakenFile(configuration: try read("network: { http_port: 0 }\n"), found: ConfigReader.Result())
    return Reloader(taken, environment: [:], threshold: LogThreshold(.info))
  }

  /// The code of the refusal; `nil` if the change was taken.
  private func refusal(of reloader: Reloader, _ change: any RulesChange) async -> String? {
    do {
      _ = try await reloader.submit(file: nil) { _ in [change] }
      return nil
    } catch {
      return (error as? APIError)?.code ?? "\(error)"
    }
  }

  /// Begins the change as soon as it was submitted.
  private func begun(_ reloader: Reloader) async -> ReloadRun {
    while true {
      if let run = reloader.begin([], at: at(0)) { return run }
      await Task.yield()
    }
  }

  @Test("a change that is submitted when the daemon stops is refused")
  func submittedTooLate() async throws {
    let (reloader, loop) = (try reloader(), Loop("one"))
    reloader.stop()
    #expect(await refusal(of: reloader, loop) == "STOPPING")
    #expect(reloader.begin([], at: at(0)) == nil && loop.said == [])
  }

  @Test("a change that has begun when the daemon stops: it ends, later ones are refused")
  func stoppedOnItsWay() async throws {
    let (reloader, loop) = (try reloader(), Loop("one"))
    async let first = refusal(of: reloader, loop)
    let run = await begun(reloader)
    #expect(await refusal(of: reloader, Loop("other")) == "BUSY")
    reloader.stop()
    run.stop()
    #expect(await first == "STOPPING" && loop.said == ["propose", "withdraw"])
    #expect(await refusal(of: reloader, Loop("other")) == "STOPPING")
  }

  @Test("a change that ended makes way for the next one")
  func oneAfterTheOther() async throws {
    let reloader = try reloader()
    for _ in 1...2 {
      let loop = Loop("one")
      loop.state.withLock { ($0.isThere, $0.progress) = (true, .taken) }
      async let outcome = refusal(of: reloader, loop)
      var run = await begun(reloader)
      #expect(ends(&run, 1) == true)
      #expect(await outcome == nil && loop.said == ["propose", "commit"])
    }
  }

  private struct Limits: Settings, BitwiseCopyable, Equatable {
    var most = 80
    var least = 10
    var gain = 1.0

    static var keys: [Key<Limits>] {
      Key("most", \.most, in: 0...100, limit: .upper, "")
      Key("least", \.least, in: 0...100, limit: .lower, "")
      Key("gain", \.gain, in: 0...10, "")
    }

    func check(_ report: (PartialKeyPath<Limits>, String) -> Void) {
      if most < least { report(\.most, "expected at least least") }
    }
  }

  @Test(
    "a tighter limit holds at once, a wider one waits; nothing is taken of a change that contradicts itself by half")
  func limits() {
    let old = Limits()
    let tighter = Limits(most: 50, least: 20, gain: 2).change(from: old)
    #expect(tighter.now == Limits(most: 50, least: 20, gain: 2) && tighter.whenSafe == nil)
    let wider = Limits(most: 90, least: 5, gain: 2).change(from: old)
    #expect(wider.now == Limits(most: 80, least: 10, gain: 2) && wider.whenSafe == Limits(most: 90, least: 5, gain: 2))
    let both = Limits(most: 5, least: 0).change(from: old)
    #expect(both.now == old && both.whenSafe == Limits(most: 5, least: 0))
  }

  @Test("names outside: of a metric, of the page")
  func names() {
    #expect(Unit.percent.metricName("fan", "dutyPercent") == "tactus_fan_duty_ratio")
    #expect(Unit.milliseconds.metricName("my-fan", "spinUpMs") == "tactus_my_fan_spin_up_seconds")
    #expect(
      Unit.minutes.metricName("kiln", "runMinutes") == "tactus_kiln_run_seconds" && Unit.minutes.metricFactor == 60)
    #expect(
      Unit.percent.inMetric(57) == 0.57 && Unit.milliseconds.inMetric(7) == 0.007 && Unit.hours.inMetric(2) == 7200)
    #expect(Unit.none.metricName("fan", "failures") == "tactus_fan_failures")
    #expect(Unit.celsius.title("targetCelsius") == "Target" && Unit.none.title("doorIsOpen") == "Door is open")
  }

  @Test("a unit of one's own: its sign as given, a name that ends in it keeps it in metrics and loses it in its title")
  func ownUnit() {
    let own = Unit("ml")
    #expect(own.metricName("doser", "doseMl") == "tactus_doser_dose_ml" && own.inMetric(3.5) == 3.5)
    #expect(own.title("doseMl") == "Dose" && own.title("poured") == "Poured")
    #expect(Unit("kWh").title("energyKwh") == "Energy" && Unit("%/°C").title("gain") == "Gain")
    #expect(Unit("Ω").metricName("oven", "spare") == "tactus_oven_spare")
    #expect(Unit.flaw(in: "%/°C/s") == nil && Unit.flaw(in: "m³/h") == nil)
  }

  @Test(
    "a unit that nobody can read: what is wrong, and what to write",
    arguments: [
      ("", "nothing"), ("   ", "nothing but spaces"), (" ml", "a space at its end"), ("m\nl", "U+000A"),
      ("m\u{200B}l", "U+200B"), ("\u{202E}lm", "U+202E"), ("millilitres a day", "17 characters"),
    ])
  func noUnit(sign: String, got: String) throws {
    let flaw = try #require(Unit.flaw(in: sign))
    #expect(
      flaw.contains("text of 1…16 characters that are seen") && flaw.contains("Unit(\"ml\"), got \(got);"), "\(flaw)")
  }

  @Test("a declaration with such a unit ends the program")
  func unitOfNothing() async {
    await #expect(processExitsWith: .exitCode(1)) { _ = Unit("") }
  }
}
