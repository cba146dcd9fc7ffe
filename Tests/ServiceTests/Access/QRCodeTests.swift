import Testing

@testable import Service

@Suite("QR code")
struct QRCodeTests {
  /// What a reader of another author has read; the page's tests give it the codes of tickets, versions 4 to 9.
  @Test("a code that a reader reads: the same modules as then")
  func golden() throws {
    let code = try #require(QRCode(of: "http://pi.local"))
    #expect(code.modules.map { String($0.map { $0 ? "#" : "." }) } == Self.kept)
  }

  @Test(
    "the side grows with the text, up to version 9; a longer text has no code",
    arguments: [
      (0, 21), (14, 21), (15, 25), (26, 25), (27, 29), (42, 29), (62, 33), (84, 37), (106, 41), (122, 45), (152, 49),
      (153, 53), (180, 53),
    ])
  func sizes(length: Int, side: Int) throws {
    let code = try #require(QRCode(of: String(repeating: "a", count: length)))
    #expect(code.modules.count == side && code.modules.allSatisfy { $0.count == side })
  }

  @Test("a text of more than 180 bytes has none; umlauts count as two")
  func tooLong() {
    #expect(QRCode(of: String(repeating: "a", count: 181)) == nil)
    #expect(
      QRCode(of: String(repeating: "ä", count: 91)) == nil && QRCode(of: String(repeating: "ä", count: 90)) != nil)
  }

  private static let kept = [
    "#######.#......##.#######", "#.....#..#..###.#.#.....#", "#.###.#.##.#..###.#.###.#",
    "#.###.#...###.#...#.###.#", "#.###.#...##.###..#.###.#", "#.....#.##..#..#..#.....#",
    "#######.#.#.#.#.#.#######", "..............###........", "#.#...##..#####.#..#..#.#",
    "..####..#.#.###...#..#.##", "###.###...###..##...###.#", "..#.##.....###..#.#.##...",
    ".#..#.#.#.####..#.##....#", ".##....##.#.#..##.##...##", "##.####...#.####...####.#",
    "..#.#..#.####.#..........", "###..##...#..########..#.", "........#.#..##.#...#.#.#",
    "#######.#.##....#.#.##..#", "#.....#...#..#.##...#..##", "#.###.#..#####.#######...",
    "#.###.#..#..#..###.####..", "#.###.#.###.######..#..##", "#.....#...###.#.#####....",
    "#######.##...##.#....#..#",
  ]
}
