import Foundation
import Plants
import Tactus
import Testing

@Suite("Plants: history") struct PlantHistoryTests {
  static let sensor = PlantSensorID("0x36")!

  func sample(_ second: Int64, _ percent: Double, _ celsius: Double? = nil) -> PlantHistorySample {
    PlantHistorySample(
      sensor: Self.sensor, at: PlantInstant(secondsSince1970: second), moisturePercent: percent, celsius: celsius)
  }

  @Test("rows: least, mean and greatest of a span, ended by the first sample of another")
  func rows() {
    var history = PlantHistory(tiers: [PlantHistoryTier(spanSeconds: 60, keptSeconds: 3_600)])
    #expect(history.add(sample(60, 10, 20)) == [])
    #expect(history.add(sample(90, 20)) == [])
    #expect(history.add(sample(119, 60, 24)) == [])
    let ended = history.add(sample(120, 5))
    #expect(ended.count == 1)
    let row = ended[0]
    #expect(row.start.secondsSince1970 == 60 && row.spanSeconds == 60 && row.count == 3)
    #expect(row.leastPercent == 10 && row.meanPercent == 30 && row.greatestPercent == 60)
    #expect(row.meanCelsius == 22 && row.celsiusCount == 2)
    #expect(history.openRows.map(\.count) == [1])
  }

  @Test("clock set back: the open row is ended, and the past gets a row of its own; before 1970, too")
  func clock() {
    var history = PlantHistory(tiers: [PlantHistoryTier(spanSeconds: 60, keptSeconds: 3_600)])
    _ = history.add(sample(600, 10))
    #expect(history.add(sample(-1, 20)).map(\.start.secondsSince1970) == [600])
    #expect(history.openRows.map(\.start.secondsSince1970) == [-60])
  }

  @Test("a year of readings each minute: every tier's rows hold every sample once, their means agree")
  func tiers() {
    var history = PlantHistory()
    var random = SplitMix64(seed: 5)
    var counts: [Int64: Int] = [:]
    var sums: [Int64: Double] = [:]
    var sum = 0.0
    let samples = 366 * 1_440
    func take(_ row: PlantHistoryRow) {
      counts[row.spanSeconds, default: 0] += row.count
      sums[row.spanSeconds, default: 0] += row.meanPercent * Double(row.count)
    }
    for minute in 0..<samples {
      let percent = Double(random.below(1_001)) / 10
      sum += percent
      for row in history.add(sample(Int64(minute) * 60, percent)) { take(row) }
    }
    for row in history.openRows { take(row) }
    for tier in PlantHistoryTier.standard {
      #expect(counts[tier.spanSeconds] == samples)
      #expect(abs(sums[tier.spanSeconds]! - sum) < 1e-3 * Double(samples))
    }
  }

  @Test("retention and choice of tier: the finest that reaches back and fits the chart")
  func choice() {
    let history = PlantHistory()
    let now = PlantInstant(secondsSince1970: 1_800_000_000)
    let kept: [Int64] = history.expiries(at: now).map { now - $0.before }
    let days: [Int64] = [2, 31, 1_098]
    #expect(kept == days.map { $0 * 86_400 })
    #expect(history.tier(from: now - 3_600, to: now, points: 500).spanSeconds == 60)
    #expect(history.tier(from: now - 86_400, to: now, points: 500).spanSeconds == 900)
    #expect(history.tier(from: now - 86_400, to: now, points: 2_000).spanSeconds == 60)
    #expect(history.tier(from: now - 30 * 86_400, to: now, points: 500).spanSeconds == 21_600)
    #expect(history.tier(from: now - 3_000 * 86_400, to: now, points: 1).spanSeconds == 21_600)
  }

  @Test("down-sampling: at most so many points, extremes kept, means weighted, the span that is covered")
  func downSampling() throws {
    let rows = (0..<1_000).map { PlantHistoryRow(sample(Int64($0) * 60, $0 == 617 ? 100 : 10), spanSeconds: 60) }
    let few = PlantHistory.downSampled(rows, to: 7)
    #expect(few.count == 7)
    #expect(few.map(\.count).reduce(0, +) == 1_000)
    #expect(few.map(\.greatestPercent).max() == 100 && few.map(\.leastPercent).min() == 10)
    #expect(few.map(\.spanSeconds).reduce(0, +) == 60_000)
    #expect(PlantHistory.downSampled(rows, to: 1_000) == rows)
    #expect(try JSONDecoder().decode([PlantHistoryRow].self, from: JSONEncoder().encode(few)) == few)
  }
}
