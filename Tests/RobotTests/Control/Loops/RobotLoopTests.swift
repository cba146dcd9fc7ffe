import Buses
import Devices
import Tactus
import TestSupport
import Testing
import Wire

@testable import Robot

@Suite(.ownThread) struct RobotLoopTests {
  let stop = ["stop", "run 0 0"]

  // MARK: motors

  @Test("start: the first tick writes a stop and the board confirms it")
  func start() {
    let bench = LoopBench()
    bench.tick(0)
    #expect(bench.writes() == stop)
    #expect(bench.snapshot.state.description == "stopped: nothing commanded yet")
  }

  @Test("datagram: acts in the release by arrival, not at the next period")
  func actsAtOnce() {
    let bench = LoopBench()
    bench.tick(0)
    _ = bench.writes()
    bench.send(#"{"left":100,"right":-50,"timestamp":1.5}"#, at: 13)
    bench.tick(13, .input)
    #expect(bench.writes() == ["run 255 -128"])
    #expect(bench.snapshot.speeds == speeds(100, -50))
    bench.tick(50)
    #expect(bench.writes() == ["run 255 -128"], "kept alive")
  }

  @Test("drain: several commands, only the last is written")
  func lastOfDrain() {
    let bench = LoopBench()
    bench.tick(0)
    _ = bench.writes()
    for speed in [20, 40, 60] { bench.send(#"{"left":\#(speed),"right":\#(speed),"timestamp":1.\#(speed)}"#, at: 20) }
    bench.tick(20, .input)
    #expect(bench.writes() == ["run 153 153"])
    #expect(bench.snapshot.counters.accepted == 3)
  }

  @Test("drain: a stop between two commands is written before the last of them")
  func stopInDrain() {
    let bench = LoopBench()
    bench.send(#"{"left":60,"right":60}"#, at: 0)
    bench.tick(0)
    _ = bench.writes()
    bench.send(#"{"left":0,"right":0}"#, at: 20)
    bench.send(#"{"left":-40,"right":-40}"#, at: 20)
    bench.tick(20, .input)
    #expect(bench.writes() == stop + ["run -102 -102"])
  }

  @Test("drain: a command and then an emergency stop, the command never reaches the motors")
  func emergencyStopInDrain() {
    let bench = LoopBench()
    bench.tick(0)
    _ = bench.writes()
    bench.send(#"{"left":60,"right":60}"#, at: 20)
    bench.send(#"{"command":"estop"}"#, from: LoopBench.script, at: 20)
    bench.send(#"{"left":60,"right":60}"#, at: 20)
    bench.tick(20, .input)
    #expect(bench.writes() == stop)
    #expect(bench.snapshot.isEmergencyStopped)
    #expect(bench.snapshot.counters.ignored(.emergencyStopped) == 1)
  }

  @Test("failsafe: released at its deadline, the stop is on the bus at that instant")
  func failsafe() {
    let bench = LoopBench()
    bench.send(#"{"left":60,"right":60}"#, at: 20)
    bench.tick(20, .input)
    #expect(bench.deadline == .milliseconds(1_020))
    bench.tick(1_000)
    _ = bench.writes()
    bench.tick(1_020, .deadline)
    #expect(bench.writes() == stop)
    #expect(bench.bus.transactions().last?.at == .milliseconds(1_020))
    #expect(bench.snapshot.state.stopReason == .silence)
  }

  @Test(
    "stuck bus: fault in the same tick, the stop tried in it and in every later one, free bus and reset drive again")
  func stuckBus() {
    let bench = LoopBench()
    bench.send(#"{"left":60,"right":60}"#, at: 0)
    bench.tick(0)
    _ = bench.writes()
    bench.bus.inject(.stuck)
    bench.tick(50)
    #expect(bench.writes() == ["run 153 153!", "stop!"])
    #expect(bench.snapshot.state.faultCause == .motorWrites(MotorFailure(.timedOut), failures: 1))
    bench.tick(100)
    #expect(bench.writes() == ["stop!"])
    bench.bus.clearFaults()
    bench.tick(150)
    #expect(bench.writes() == stop)
    bench.send(#"{"command":"reset"}"#, at: 1_200)
    bench.tick(1_200)
    #expect(bench.snapshot.state.stopReason == .reset(by: .datagram(LoopBench.phone)))
    #expect(
      bench.takeNotices() == [
        "driving by 10.0.0.2:50000", "motors fail: the bus is stuck",
        "fault: the bus is stuck, 1 failed write in a row (stop not confirmed by the motors, 2 failed)",
        "motors answer", "stopped: reset by 10.0.0.2:50000",
      ])
  }

  @Test("board absent: three failing ticks are a fault, the bus's own retries come first")
  func absentBoard() {
    let bench = LoopBench()
    bench.bus.inject(.noAcknowledge(address: YBPcbCar.standardAddress, count: nil))
    bench.tick(0)
    #expect(bench.writes() == ["stop!", "stop!", "stop!", "run 0 0!", "run 0 0!", "run 0 0!"])
    bench.tick(50)
    #expect(bench.snapshot.state.faultCause == nil)
    bench.tick(100)
    #expect(bench.snapshot.state.faultCause == .motorWrites(MotorFailure(.noAcknowledge), failures: 3))
    #expect(bench.snapshot.counters.writeFailures == 3)
  }

  @Test("one lost acknowledge: retried within the tick, counted, no failure")
  func retry() {
    let bench = LoopBench()
    bench.bus.inject(.noAcknowledge(address: YBPcbCar.standardAddress, count: 1))
    bench.tick(0)
    #expect(bench.snapshot.retries == 1 && bench.snapshot.counters.writeFailures == 0)
  }

  // MARK: inputs

  @Test("garbage: counted with its reason, does not feed the failsafe")
  func garbage() {
    let bench = LoopBench()
    bench.send(#"{"left":60,"right":60}"#, at: 0)
    bench.tick(0)
    for time in stride(from: Int64(50), to: 1_000, by: 50) {
      bench.send("\u{0}garbage", at: time)
      bench.send(String(repeating: " ", count: 1_100), at: time)
      bench.tick(time)
    }
    #expect(bench.snapshot.counters.malformed == 38)
    #expect(bench.snapshot.lastMalformed == .tooLong(count: 1_100))
    #expect(bench.deadline == .milliseconds(1_000))
  }

  @Test("flood: 256 datagrams a release, the rest at the next; the valid one among them is acted on")
  func flood() {
    let bench = LoopBench()
    bench.tick(0)
    for _ in 0..<300 { bench.send("x", at: 10) }
    bench.send(#"{"left":60,"right":60}"#, at: 10)
    bench.tick(10, .input)
    #expect(bench.snapshot.counters.datagrams == 256)
    bench.tick(11, .input)
    #expect(bench.snapshot.counters.datagrams == 301)
    #expect(bench.snapshot.speeds == speeds(60, 60))
  }

  @Test("second sender: counted as not the controller, its CSV mismatch too")
  func counters() {
    let bench = LoopBench()
    bench.send(#"{"left":60,"right":60}"#, at: 0)
    bench.send("30,10,1", from: LoopBench.script, at: 0)
    bench.tick(0)
    #expect(bench.snapshot.counters.ignored(.notController) == 1)
    #expect(bench.snapshot.counters.ignored == 1)
    #expect(bench.snapshot.counters.directionMismatches == 1)
    #expect(bench.snapshot.holder?.source == .datagram(LoopBench.phone))
  }

  @Test("requests: clients inside the daemon drive and stop like senders")
  func requests() {
    let bench = LoopBench()
    bench.request(1, .command(.drive(speeds(30, 30))), client: 7, at: 0)
    bench.tick(0)
    #expect(bench.snapshot.holder?.source == .local(7))
    bench.request(2, .command(.emergencyStop), client: 8, at: 50)
    bench.tick(50)
    #expect(bench.snapshot.isEmergencyStopped)
  }

  @Test("requests: each is answered in the tick that takes it, in their order, with its verdict and the robot's state")
  func answers() {
    let bench = LoopBench()
    bench.tick(0)
    bench.request(1, .command(.drive(speeds(30, 30)), timestamp: .at(1.5)), client: 7, at: 40)
    bench.request(2, .command(.drive(speeds(10, 10))), client: 8, at: 40)
    bench.request(3, .command(.query), client: 9, at: 41)
    #expect(bench.takeAnswers().isEmpty)
    bench.tick(45, .input)
    let answers = bench.takeAnswers()
    #expect(answers.map(\.number) == [1, 2, 3])
    #expect(answers.map(\.verdict) == [.accepted, .refused(.notController), .accepted])
    #expect(answers.allSatisfy { $0.at == .milliseconds(45) } && bench.published.at == .milliseconds(45))
    #expect(bench.snapshot.state.speeds == speeds(30, 30))
    #expect(bench.snapshot.counters.accepted == 1, "a query is no command")
    bench.request(4, .command(.drive(speeds(40, 40)), timestamp: .at(1.25)), client: 7, at: 46)
    bench.tick(46, .input)
    #expect(bench.takeAnswers().map(\.verdict) == [.refused(.older)])
  }

  @Test(
    "twist: by datagram and by request it turns the wheels, scaled it says so; without a geometry it is refused by name"
  )
  func twists() throws {
    let bench = LoopBench(try RobotSettings(acceleration: 0, geometry: RobotSettings.measured.geometry))
    bench.send(#"{"linear":0.2,"angular":0,"echo":1}"#, at: 0)
    bench.tick(0)
    #expect(bench.writes().last == "run 102 102")
    #expect(bench.replies(at: 0).last?.contains(#""reason":null"#) == true)
    bench.send(#"{"linear":1,"angular":0,"echo":2}"#, at: 50)
    bench.tick(50)
    #expect(bench.writes() == ["run 255 255"])
    #expect(bench.replies(at: 50).last?.contains(#""reason":"scaled""#) == true && bench.snapshot.state.share == 0.5)
    bench.settings.set(.unramped)
    bench.send(#"{"linear":0.1,"angular":0,"echo":3}"#, at: 100)
    bench.tick(100)
    #expect(bench.replies(at: 100).last?.contains(#""reason":"no-geometry""#) == true)
    #expect(bench.snapshot.counters.ignored(.noGeometry) == 1)
    _ = bench.writes()
    bench.request(1, .command(.twist(twist(0, 0))), client: 9, at: 110)
    bench.tick(110, .input)
    #expect(bench.writes() == stop, "a zero needs no geometry and is obeyed from anyone")
  }

  @Test("stalled lane: a twist that waited longer than 250 ms never reaches the motors, a zero one stops however late")
  func staleTwist() {
    let bench = LoopBench(.measured)
    bench.tick(0)
    _ = bench.writes()
    bench.request(1, .command(.twist(twist(0.2, 0))), at: 49)
    bench.tick(300)
    #expect(bench.writes() == stop && bench.takeAnswers().map(\.verdict) == [.refused(.stale)])
    bench.request(2, .command(.twist(twist(0.2, 0))), client: 1, at: 301)
    bench.tick(301)
    _ = bench.writes()
    bench.request(3, .command(.twist(twist(0, 0))), client: 2, at: 310)
    bench.tick(1_200)
    #expect(bench.writes() == stop && bench.takeAnswers().map(\.verdict) == [.accepted, .accepted])
  }

  @Test("requests: an answer that finds its ring full is counted, the request is obeyed")
  func answersDropped() {
    let bench = LoopBench()
    for number in 1...5 { bench.request(UInt64(number), .command(.query), at: 0) }
    bench.request(6, .command(.emergencyStop), at: 0)
    bench.tick(0)
    #expect(bench.snapshot.isEmergencyStopped)
    #expect(bench.takeAnswers().map(\.number) == [1, 2, 3, 4])
    // Answers are given after the snapshot: the next one counts them.
    bench.tick(50)
    #expect(bench.published.answersDropped == 2)
  }

  @Test("stalled lane: a drive that waited longer than 250 ms never reaches the motors, one that did not does")
  func staleDrive() {
    let bench = LoopBench()
    bench.tick(0)
    _ = bench.writes()
    bench.request(1, .command(.drive(speeds(60, 60))), at: 49)
    bench.tick(300)
    #expect(bench.writes() == stop)
    #expect(bench.takeAnswers().map(\.verdict) == [.refused(.stale)])
    #expect(bench.snapshot.counters.ignored(.stale) == 1 && bench.snapshot.holder == nil)
    bench.request(2, .command(.drive(speeds(60, 60))), at: 301)
    bench.tick(551)
    #expect(bench.writes() == ["run 153 153"])
    #expect(bench.takeAnswers().map(\.verdict) == [.accepted])
  }

  @Test(
    "frozen program: a datagram that lay in the socket for the failsafe's time drives no more and resets nothing, a younger one does, and a stop is obeyed",
    arguments: [true, false])
  func staleDatagram(isTwist: Bool) throws {
    let bench = LoopBench(try RobotSettings(acceleration: 0, geometry: RobotSettings.measured.geometry))
    bench.tick(0)
    _ = bench.writes()
    bench.send(isTwist ? #"{"linear":0.2,"angular":0}"# : #"{"left":60,"right":60}"#, at: 1000)
    bench.tick(2000)
    #expect(bench.writes() == stop && bench.snapshot.holder == nil)
    #expect(bench.snapshot.counters.ignored(.stale) == 1)
    bench.send(#"{"left":60,"right":60}"#, at: 3001)
    bench.tick(4000)
    #expect(bench.writes() == ["run 153 153"])
    bench.send(#"{"left":0,"right":0}"#, at: 4000)
    bench.tick(9000)
    #expect(bench.writes() == stop && bench.snapshot.counters.ignored(.stale) == 1)
  }

  @Test("stalled lane: stops, zero speeds and emergency stops are obeyed however long they waited")
  func neverStale() {
    for command in [RobotCommand.stop, .emergencyStop, .drive(.zero)] {
      let bench = LoopBench()
      bench.request(1, .command(.drive(speeds(60, 60))), client: 1, at: 0)
      bench.tick(0)
      _ = bench.writes()
      bench.request(2, .command(command), client: 2, at: 10)
      bench.tick(900)
      #expect(bench.writes() == stop)
      #expect(bench.takeAnswers().map(\.verdict) == [.accepted, .accepted])
    }
  }

  @Test(
    "stalled lane: a reset that waited longer than 250 ms undoes no emergency stop; a drive that did counts as a stick held"
  )
  func staleReset() {
    let bench = LoopBench()
    bench.request(1, .command(.emergencyStop), at: 0)
    bench.tick(0)
    bench.request(2, .command(.reset), at: 100)
    bench.tick(2000)
    #expect(bench.takeAnswers().map(\.verdict) == [.accepted, .refused(.stale)])
    #expect(bench.snapshot.isEmergencyStopped)
    bench.request(3, .command(.drive(speeds(60, 60))), at: 2000)
    bench.request(4, .command(.reset), at: 2400)
    bench.tick(2400)
    #expect(bench.takeAnswers().map(\.verdict) == [.refused(.stale), .refused(.stickNotAtZero)])
    bench.request(5, .command(.reset), at: 3400)
    bench.tick(3400)
    #expect(bench.takeAnswers().map(\.verdict) == [.accepted])
  }

  @Test("a client inside the daemon leaves: the motors stop at once when it held control, otherwise nothing happens")
  func leave() {
    let bench = LoopBench()
    bench.request(1, .command(.drive(speeds(60, 60))), client: 1, at: 0)
    bench.tick(0)
    _ = bench.writes()
    bench.request(2, .leave, client: 2, at: 10)
    bench.tick(10, .input)
    #expect(bench.writes().isEmpty)
    // Even when its last command is taken in the same tick.
    bench.request(3, .command(.drive(speeds(40, 40))), client: 1, at: 20)
    bench.request(4, .leave, client: 1, at: 20)
    bench.tick(20, .input)
    #expect(bench.writes() == stop)
    #expect(bench.snapshot.state.description == "stopped: commanded")
  }

  @Test("settings: published ones hold from the next tick on")
  func settings() throws {
    let bench = LoopBench()
    bench.send(#"{"left":100,"right":100}"#, at: 0)
    bench.tick(0)
    _ = bench.writes()
    bench.settings.set(try RobotSettings(speedLimit: Percent(50), acceleration: 0))
    bench.tick(50)
    #expect(bench.writes() == ["run 128 128"])
    #expect(bench.snapshot.settings.speedLimit == Percent(50))
  }

  // MARK: replies

  @Test("echo: answered in the release that brings it, the newest of a source, at most once in 20 ms")
  func echo() {
    let bench = LoopBench()
    bench.tick(0)
    bench.send(#"{"left":60,"right":-60,"echo":1}"#, at: 100)
    bench.send(#"{"left":50,"right":-60,"echo":2}"#, at: 100)
    bench.tick(100, .input)
    #expect(
      bench.replies(at: 100) == [#"{"echo":2,"state":"driving","left":50,"right":-60,"age_ms":0,"reason":null}"#])
    bench.send(#"{"command":"query","echo":3}"#, at: 110)
    bench.tick(110, .input)
    #expect(bench.replies(at: 110).isEmpty && bench.snapshot.counters.repliesDropped == 1)
    bench.send(#"{"command":"query","echo":4}"#, at: 120)
    bench.tick(120, .input)
    #expect(
      bench.replies(at: 120) == [#"{"echo":4,"state":"driving","left":50,"right":-60,"age_ms":20,"reason":null}"#])
  }

  @Test("echo: a refused command is answered with the reason")
  func echoRefused() {
    let bench = LoopBench()
    bench.send(#"{"left":60,"right":60}"#, at: 0)
    bench.send(#"{"left":10,"right":10,"echo":9}"#, from: LoopBench.script, at: 0)
    bench.tick(0)
    #expect(
      bench.replies(to: LoopBench.script, at: 0) == [
        #"{"echo":9,"state":"driving","left":60,"right":60,"age_ms":0,"reason":"not-controller"}"#
      ])
  }

  // MARK: the runtime's safe state

  @Test("missed releases: the motors stop, the fault names the count")
  func misses() {
    let bench = LoopBench()
    bench.send(#"{"left":60,"right":60}"#, at: 0)
    bench.tick(0)
    _ = bench.writes()
    bench.safeState(200, .misses(3))
    #expect(bench.writes() == stop)
    #expect(bench.snapshot.state.faultCause == .missedReleases(3))
  }

  @Test("stopped from outside: a stick that is held at 20 Hz drives no motor, a zero of its own frees it")
  func externalStop() {
    let bench = LoopBench()
    bench.hold(from: 0, through: 200)
    _ = bench.writes()
    // The program was stopped for 3 s: the failsafe ran out meanwhile, and the stick is still held.
    bench.safeState(3_200, .externalStop(.milliseconds(1_200)))
    #expect(bench.writes() == stop && bench.snapshot.state.stopReason == .externalStop)
    bench.hold(from: 3_200, through: 6_200)
    #expect(Set(bench.writes()) == Set(stop), "holding on is no fresh command")
    bench.send(#"{"left":0,"right":0}"#, at: 6_250)
    bench.tick(6_250)
    bench.send(#"{"left":60,"right":60}"#, at: 6_300)
    bench.tick(6_300)
    #expect(bench.writes().last?.hasPrefix("run") == true)
  }

  @Test("started after a death: a stick that is held drives no motor, a zero of its own frees it")
  func startedAfterDeath() {
    let bench = LoopBench(afterOutsideStop: true)
    bench.hold(from: 0, through: 3_000)
    #expect(Set(bench.writes()) == Set(stop), "holding on is no fresh command")
    #expect(bench.snapshot.state.stopReason == .externalStop)
    bench.send(#"{"left":0,"right":0}"#, from: LoopBench.script, at: 3_020)
    bench.tick(3_050)
    bench.send(#"{"left":60,"right":60}"#, at: 3_050)
    bench.tick(3_100)
    #expect(Set(bench.writes()) == Set(stop), "another's zero frees nobody")
    bench.send(#"{"left":0,"right":0}"#, at: 3_150)
    bench.tick(3_150)
    bench.send(#"{"left":60,"right":60}"#, at: 3_200)
    bench.tick(3_200)
    #expect(bench.writes().last?.hasPrefix("run") == true)
  }

  @Test("shutdown: the motors stop; not confirmed, it is tried three times, as no tick follows")
  func shutdown() {
    let bench = LoopBench()
    bench.tick(0)
    bench.send(#"{"left":60,"right":60}"#, at: 10)
    bench.tick(10, .input)
    _ = bench.writes()
    bench.bus.inject(.noAcknowledge(address: YBPcbCar.standardAddress, count: 12))
    bench.safeState(20, .stop)
    #expect(bench.writes().suffix(2) == stop)
    #expect(bench.snapshot.state == .shutDown(.confirmed))
    bench.send(#"{"left":60,"right":60}"#, at: 30)
    bench.tick(50)
    #expect(bench.writes() == stop)
  }
}
