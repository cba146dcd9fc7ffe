import Testing

@testable import Plants

@Suite("Plants: advertisements of soil sensors") struct SoilAdvertisementTests {
  private func read(_ text: String, _ format: SoilAdvertisement.Format) -> [Int?]? {
    let digits = Array(text.filter { $0 != " " })
    let bytes = stride(from: 0, to: digits.count, by: 2).map { UInt8(String(digits[$0...$0 + 1]), radix: 16)! }
    return SoilAdvertisement(bytes, as: format).map { [$0.moisture, $0.temperature, $0.battery] }
  }

  @Test("BTHome: moisture, temperature and battery in all their forms, beside values that are left out")
  func btHome() {
    // A packet's number, 97 %, 25.06 °C, 50.55 % of humidity, 30.74 % of moisture.
    #expect(read("40 00 1b 01 61 02 ca09 03 bf13 14 020c", .btHome) == [3074, 2506, 97])
    #expect(read("44 2f 23", .btHome) == [3500, nil, nil])
    #expect(read("40 45 1101", .btHome) == [nil, 2730, nil])
    #expect(read("40 57 ea", .btHome) == [nil, -2200, nil])
    #expect(read("40 58 ea", .btHome) == [nil, -770, nil])
    #expect(read("40 02 18fc", .btHome) == [nil, -1000, nil])
    // Text of three bytes before the moisture, a conductivity, a volume.
    #expect(read("40 53 03 414243 56 e803 4e 01020304 2f 05", .btHome) == [500, nil, nil])
  }

  @Test("MiBeacon: a MiFlora's four frames, of which light and conductivity are left out")
  func miBeacon() {
    #expect(read("7120 9800 01 22116a8d7cc4 0d 0810 01 1f", .miBeacon) == [3100, nil, nil])
    #expect(read("7120 9800 02 22116a8d7cc4 0d 0410 02 d700", .miBeacon) == [nil, 2150, nil])
    #expect(read("7120 9800 02 22116a8d7cc4 0d 0410 02 f6ff", .miBeacon) == [nil, -100, nil])
    #expect(read("7120 9800 03 22116a8d7cc4 0d 0710 03 2a0100", .miBeacon) == nil)
    #expect(read("7120 9800 04 22116a8d7cc4 0d 0910 02 5e01", .miBeacon) == nil)
    // Without address and capability.
    #expect(read("4020 9800 05 0a10 01 62 0810 01 07", .miBeacon) == [700, nil, 98])
  }

  @Test("nothing is read of what is encrypted, of another version, cut, unknown or out of its range")
  func nonsense() {
    for text in [
      "", "40", "41 2f 23", "20 2f 23", "40 2f", "40 14 02", "40 2f 65", "40 14 1127", "40 01 65", "40 99 2f 23",
      "40 53",
      "40 53 ff 2f 23", "40 54 00", "40 02 ff7f",
    ] { #expect(read(text, .btHome) == nil, "\(text)") }
    for text in [
      "", "7120", "7120 9800 01", "7920 9800 01 22116a8d7cc4 0d 0810 01 1f", "3120 9800 01 22116a8d7cc4 0d 0810 01 1f",
      "7120 9800 01 22116a8d7cc4", "7120 9800 01 22116a8d7cc4 0d 0810", "7120 9800 01 22116a8d7cc4 0d 0810 01",
      "7120 9800 01 22116a8d7cc4 0d 0810 01 65", "7120 9800 01 22116a8d7cc4 0d 0810 02 1f00",
    ] { #expect(read(text, .miBeacon) == nil, "\(text)") }
    // What comes before an object that nobody knows is kept.
    #expect(read("40 2f 23 99 01", .btHome) == [3500, nil, nil])
  }

  @Test("addresses: six bytes in either case, and nothing else")
  func addresses() {
    #expect(RadioAddress("c4:7c:8D:6a:01:22")?.text == "C4:7C:8D:6A:01:22")
    #expect(RadioAddress("C4:7C:8D:6A:01:22") == RadioAddress("c4:7c:8d:6a:01:22"))
    for text in [
      "", "C4:7C:8D:6A:01", "C4:7C:8D:6A:01:22:33", "C4:7C:8D:6A:01:2", "C4:7C:8D:6A:01:２2", "C47C8D6A0122",
      "G4:7C:8D:6A:01:22",
    ] {
      #expect(RadioAddress(text) == nil, "\(text)")
    }
  }
}
