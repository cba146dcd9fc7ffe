import Plants
import Tactus
import Testing

@Suite("Plants: when the day's picture is due") struct PlantPictureTimesTests {
  private static let day: Int64 = 86_400
  private static let noon: Int64 = 20_000 * day + 12 * 3_600

  private static func at(_ seconds: Int64) -> TickInstant { .zero + .seconds(seconds) }

  @Test("once a day from its minute on; a day that has one already is let be")
  func onceADay() {
    var times = PlantPictureTimes(minute: 12 * 60)
    #expect(times.due(localSeconds: Self.noon - 1, at: Self.at(0)) { _ in false } == nil)
    #expect(times.due(localSeconds: Self.noon, at: Self.at(1)) { _ in false } == 20_000)
    times.took(20_000, at: Self.at(2))
    for second in stride(from: 3, to: 12 * 3_600, by: 61) {
      #expect(times.due(localSeconds: Self.noon + Int64(second), at: Self.at(Int64(second))) { _ in false } == nil)
    }
    #expect(times.due(localSeconds: Self.noon + Self.day - 1, at: Self.at(Self.day - 1)) { _ in false } == nil)
    #expect(times.due(localSeconds: Self.noon + Self.day, at: Self.at(Self.day)) { _ in true } == nil)
    // It is not asked again whether it is there.
    #expect(times.due(localSeconds: Self.noon + Self.day + 1, at: Self.at(Self.day + 1)) { _ in false } == nil)
    #expect(times.due(localSeconds: Self.noon + 2 * Self.day, at: Self.at(2 * Self.day)) { _ in false } == 20_002)
  }

  @Test("one that cannot be taken is tried again, after ten seconds to ten minutes, until midnight")
  func retries() {
    var times = PlantPictureTimes(minute: 23 * 60)
    let eleven = Self.noon + 11 * 3_600
    let tries = (0..<3_600).filter { times.due(localSeconds: eleven + $0, at: Self.at($0)) { _ in false } != nil }
    #expect(tries == [0, 10, 30, 70, 150, 310, 630, 1_230, 1_830, 2_430, 3_030])
    #expect(times.due(localSeconds: eleven + 3_600, at: Self.at(3_600)) { _ in false } == nil)
  }

  @Test("a clock that jumps makes no more than one an hour; no time is too early or too late for it")
  func wrongClock() {
    var times = PlantPictureTimes(minute: 0)
    var taken = 0
    for second in Int64(0)..<7_200 {
      let local = [.min, .max, -1, 0, Self.noon + second * Self.day, .max - second][Int(second % 6)]
      if second == 0 { #expect(times.due(localSeconds: 2_932_897 * Self.day, at: .zero) { _ in false } == nil) }
      if let day = times.due(localSeconds: local, at: Self.at(second), unless: { _ in false }) {
        times.took(day, at: Self.at(second))
        taken += 1
      }
    }
    #expect(taken == 2)
  }

  @Test("an area ends within the picture, and its error names the edge")
  func area() throws {
    _ = try PlantPictureArea(left: 0, top: 0, width: 100, height: 100)
    _ = try PlantPictureArea(left: 99, top: 50, width: 1, height: 50)
    let wrong: [(Double, Double, Double, Double, String)] = [
      (-1, 0, 10, 10, "left"), (0, 100, 10, 10, "top"), (50, 0, 51, 10, "width"), (0, 50, 10, 0, "height"),
      (.nan, 0, 10, 10, "left"), (0, 0, .infinity, 10, "width"),
    ]
    for (left, top, width, height, field) in wrong {
      let error = #expect(throws: PlantRefusal.self) {
        try PlantPictureArea(left: left, top: top, width: width, height: height)
      }
      #expect(error?.field == "pictureArea.\(field)")
    }
  }
}
