import Testing

@testable import Tactus

@Suite("The wall clock and how far it is believed")
struct WallWatchTests {
  /// Both clocks as a test sets them, s.
  private struct Machine {
    var wall: Double = 1_790_000_000
    var boot: Double = 10_000
    var isSynchronised = false
    var watch = WallWatch(boot: BootID("1"))

    mutating func after(_ seconds: Double = 0) -> WallReading {
      wall += seconds
      boot += seconds
      return watch.read(
        WallWatch.Sample(
          microseconds: Int64(wall * 1e6), bootTime: .zero + .seconds(boot), isSynchronised: isSynchronised))
    }
  }

  @Test("a clock that something keeps: confirmed after 30 s without a jump, may delete after ten minutes")
  func synchronised() {
    var machine = Machine(isSynchronised: true)
    #expect(machine.after().word == "unconfirmed")
    #expect(machine.after(29).confirmedIn == .seconds(1))
    #expect(machine.after(1).word == "synchronised")
    #expect(!machine.after(569).mayDelete)
    #expect(machine.after(1).mayDelete)
  }

  @Test("a clock that nothing keeps: confirmed after a minute, in a new boot after five; may delete after a day")
  func steady() {
    var machine = Machine()
    _ = machine.after()
    #expect(!machine.after(59).isConfirmed)
    #expect(machine.after(1).word == "steady")
    #expect(!machine.after(86_339).mayDelete)
    #expect(machine.after(1).mayDelete)
    var young = Machine(boot: 20)
    _ = young.after()
    #expect(young.after(100).confirmedIn == .seconds(180))
    #expect(young.after(180).isConfirmed)
    // What keeps it has come.
    var kept = Machine(boot: 20)
    _ = kept.after()
    kept.isSynchronised = true
    #expect(kept.after(30).word == "synchronised")
  }

  @Test(
    "set by 2 s or more, forward or back: a jump of that size is told, the clock is not confirmed",
    arguments: [
      2.5, -2.5, 30, -30, 86_400, -86_400, 3.2e8, -3.2e8,
    ])
  func jumps(by seconds: Double) {
    var machine = Machine(isSynchronised: true)
    _ = machine.after()
    #expect(machine.after(100_000).isConfirmed)
    machine.wall += seconds
    let reading = machine.after(0.1)
    #expect(reading.word == "unconfirmed" && !reading.mayDelete)
    #expect(abs((reading.lastJump?.by ?? .zero).inSeconds - seconds) < 0.001)
    #expect(reading.jumped == reading.lastJump?.by)
    machine.wall -= seconds
    #expect(machine.after(0.1).jumped.inMilliseconds.magnitude < 1)
    #expect(machine.after(30).isConfirmed)
  }

  @Test("drift, and corrections below 2 s: no jump")
  func drift() {
    var machine = Machine(isSynchronised: true)
    _ = machine.after()
    machine.wall += 1.9
    #expect(machine.after(1).lastJump == nil)
    // A day without a look, at 500 millionths.
    machine.wall += 43
    #expect(machine.after(86_400).lastJump == nil)
  }

  @Test("an age: exact in one boot; in another as noted, with the time off only if the clock is kept")
  func ages() throws {
    for isSynchronised in [true, false] {
      var machine = Machine(isSynchronised: isSynchronised)
      let age = KeptAge(at: machine.after())
      machine.wall += 1e9
      #expect(age.seconds(at: machine.after(3_600)) == 3_600)
      machine.wall -= 2e9
      let noted = age.noted(at: machine.after(400))
      #expect(noted.sinceNoted(at: machine.after(7)) == 7)
      #expect(noted.seconds(at: machine.after()) == 4_007)
      // Off for an hour, up for 20 s.
      var next = Machine(
        wall: machine.wall + 3_600, boot: 20, isSynchronised: isSynchronised, watch: WallWatch(boot: BootID("2")))
      let reading = next.after()
      #expect(noted.sinceNoted(at: reading) == nil)
      #expect(noted.seconds(at: reading) == (isSynchronised ? 4_000 + 3_607 : 4_020))
    }
  }

  @Test("an age in another boot: a clock that shows less than when it was noted makes it no smaller")
  func backward() {
    var machine = Machine(isSynchronised: true)
    let age = KeptAge(500, at: machine.after())
    var next = Machine(wall: machine.wall - 1e6, boot: 20, isSynchronised: true, watch: WallWatch(boot: BootID("2")))
    #expect(age.seconds(at: next.after()) == 520)
  }
}
