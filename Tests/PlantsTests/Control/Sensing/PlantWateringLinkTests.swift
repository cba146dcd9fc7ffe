import Plants
import Tactus
import Testing

@Suite("Plants: link to a sprinkler zone") struct PlantWateringLinkTests {
  static let plant = PlantID(3)

  struct Bench {
    var link: PlantWateringLink
    var condition = PlantCondition()
    /// Of the runtime's clock, and how far the wall clock is from it.
    var seconds: Int64 = 0
    var offset: Int64 = 1_000_000 * 86_400
    var isRainDelayed = false

    init(_ record: PlantWateringRecord? = nil, perDay: Int = 2) throws {
      let settings = try PlantWateringSettings(
        zone: 4, seconds: 90, maximumPerDay: perDay, minimumGapSeconds: 3_600)
      link = PlantWateringLink(PlantWateringLinkTests.plant, settings, record: record)
      condition.alerts = [.dry]
    }

    /// The machine's boots, and when the last one began, by `seconds`.
    var boot = 1
    var booted: Int64 = 0
    var isSynchronised = true
    var isSteady = true

    var reading: WallReading {
      WallReading(
        microseconds: (seconds + offset) * 1_000_000, bootTime: .zero + .seconds(seconds - booted),
        boot: BootID("\(boot)"), isSynchronised: isSynchronised, steady: .seconds(isSteady ? 86_400 : 0))
    }

    mutating func step() -> PlantWateringLink.Outcome {
      link.step(
        condition, isRainDelayed: isRainDelayed, at: .zero + .seconds(seconds), reading: reading,
        day: Int((seconds + offset) / 86_400))
    }
  }

  static let request = PlantWateringLink.Outcome.request(
    PlantWateringRequest(plant: plant, zone: 4, seconds: 90))

  @Test("dry: one request, none within the gap, so many a day, the next day again")
  func limits() throws {
    var bench = try Bench()
    #expect(bench.step() == Self.request)
    bench.seconds = 3_599
    #expect(bench.step() == .none(.tooSoon))
    bench.seconds = 3_600
    #expect(bench.step() == Self.request)
    bench.seconds = 86_399
    #expect(bench.step() == .none(.enoughToday))
    bench.seconds = 86_400
    #expect(bench.step() == Self.request)
    #expect(bench.link.record?.count == 1)
  }

  @Test("dry, and a sensor reads what no soil is: no request until it reads again")
  func doubtful() throws {
    var bench = try Bench()
    bench.condition.isDoubtful = true
    #expect(bench.step() == .none(.sensorSilent) && bench.link.record == nil)
    bench.condition.isDoubtful = false
    #expect(bench.step() == Self.request)
  }

  @Test("not dry, silent, wet, rain delay, not confirmed: no request")
  func hindrances() throws {
    var bench = try Bench()
    bench.condition.alerts = []
    #expect(bench.step() == .none(.notDry))
    bench.condition.alerts = [.dry, .silent]
    #expect(bench.step() == .none(.sensorSilent))
    bench.condition.alerts = [.dry, .wet]
    #expect(bench.step() == .none(.notDry))
    bench.condition.alerts = [.dry]
    bench.isRainDelayed = true
    #expect(bench.step() == .none(.rainDelay))
    bench.isRainDelayed = false
    bench.condition.needsConfirmation = true
    #expect(bench.step() == .none(.needsConfirmation))
    bench.condition.needsConfirmation = false
    #expect(bench.step() == Self.request)
  }

  @Test("restart: the stored record keeps the gap and the day's number")
  func restart() throws {
    var first = try Bench(perDay: 1)
    #expect(first.step() == Self.request)
    var bench = try Bench(first.link.record, perDay: 1)
    bench.seconds += 3_599
    #expect(bench.step() == .none(.tooSoon))
    bench.seconds += 1
    #expect(bench.step() == .none(.enoughToday))
    bench.offset += 86_400
    #expect(bench.step() == Self.request)
  }

  @Test("restart by a clock that is days ahead: the gap holds, and no new day begins until the clock is confirmed")
  func wrongClock() throws {
    var first = try Bench(perDay: 1)
    #expect(first.step() == Self.request)
    var bench = try Bench(first.link.record, perDay: 1)
    bench.isSteady = false
    bench.isSynchronised = false
    bench.offset += 10 * 86_400
    bench.seconds += 3_599
    #expect(bench.step() == .none(.tooSoon))
    bench.seconds += 1
    #expect(bench.step() == .none(.enoughToday))
    bench.offset -= 9 * 86_400
    bench.isSteady = true
    #expect(bench.step() == Self.request)
  }

  @Test("another boot: the gap goes on from where it was noted; the time off counts if the clock is kept")
  func reboot() throws {
    for isSynchronised in [true, false] {
      var first = try Bench(perDay: 24)
      first.isSynchronised = isSynchronised
      #expect(first.step() == Self.request)
      first.seconds = 1_000
      #expect(first.step() == .none(.tooSoon))
      #expect(first.link.noteGap(at: first.reading) != nil)
      #expect(first.link.noteGap(at: first.reading) == nil)
      var bench = try Bench(first.link.record, perDay: 24)
      bench.isSynchronised = isSynchronised
      (bench.boot, bench.booted, bench.seconds) = (2, 3_000, 3_000 + 599)
      #expect(bench.step() == .none(.tooSoon))
      bench.seconds += 1
      #expect(bench.step() == (isSynchronised ? Self.request : .none(.tooSoon)))
      bench.seconds = 3_000 + 2_600
      if !isSynchronised { #expect(bench.step() == Self.request) }
    }
  }

  @Test("wall clock set forward or back in between: the gap is the runtime's")
  func clock() throws {
    var bench = try Bench(perDay: 24)
    #expect(bench.step() == Self.request)
    bench.offset += 40 * 86_400
    bench.seconds = 3_599
    #expect(bench.step() == .none(.tooSoon))
    bench.offset -= 400 * 86_400
    #expect(bench.step() == .none(.tooSoon))
    bench.seconds = 3_600
    #expect(bench.step() == Self.request)
  }

  @Test("a record from the future: taken for now, so that it neither waters at once nor never")
  func future() throws {
    var bench = try Bench(
      PlantWateringRecord(last: PlantInstant(secondsSince1970: 9_000_000 * 86_400), count: 2, day: 9_000_000))
    #expect(bench.step() == .none(.tooSoon))
    bench.seconds = 3_600
    #expect(bench.step() == .none(.enoughToday))
    bench.seconds = 86_400
    #expect(bench.step() == Self.request)
  }

  @Test("20,000 random weeks of clocks and conditions: never closer than the gap")
  func random() throws {
    var random = SplitMix64(seed: 31)
    var bench = try Bench(perDay: 24)
    var last: Int64?
    for _ in 0..<20_000 {
      bench.seconds += Int64(random.below(1_500))
      if random.below(20) == 0 { bench.offset += Int64(random.below(400_000)) - 200_000 }
      bench.condition.alerts = random.below(3) == 0 ? [] : [.dry]
      guard bench.step() == Self.request else { continue }
      if let last { #expect(bench.seconds - last >= 3_600) }
      last = bench.seconds
    }
    #expect(last != nil)
  }

  @Test("settings: ranges, the field named")
  func settings() {
    func field(_ body: () throws(PlantRefusal) -> PlantWateringSettings) -> String? {
      do throws(PlantRefusal) {
        _ = try body()
        return nil
      } catch {
        return error.field
      }
    }
    #expect(field { () throws(PlantRefusal) in try PlantWateringSettings(zone: 0, seconds: 1) } == "zone")
    #expect(field { () throws(PlantRefusal) in try PlantWateringSettings(zone: 1, seconds: 3_601) } == "seconds")
    #expect(
      field { () throws(PlantRefusal) in try PlantWateringSettings(zone: 1, seconds: 1, maximumPerDay: 25) }
        == "maximumPerDay")
    #expect(
      field { () throws(PlantRefusal) in try PlantWateringSettings(zone: 1, seconds: 1, minimumGapSeconds: 59) }
        == "minimumGapSeconds")
  }
}
