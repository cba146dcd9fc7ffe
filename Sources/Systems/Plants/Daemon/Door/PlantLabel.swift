import Plants
import Service

/// A label to print and put into a pot: the plant's name, and a QR code of its card on the page.
///
/// It is an SVG of 60 by 25 mm. The code has the margin of four modules that readers need; the shortest addresses give modules of 0.6 mm.
struct PlantLabel {
  let plant: Plant
  /// The address of the page, which ends in `/`.
  let page: String

  /// The view of one plant, which follows the page's address: `#/plants/12`.
  private static let path = "#/plants/"
  /// The greatest length of the page's address, so that the whole address fits into a code; a plant's number has at most 16 digits.
  static let greatestPageLength = QRCode.greatestLength - path.utf8.count - 16

  private var address: String { page + Self.path + "\(plant.id)" }

  var svg: String {
    guard let code = QRCode(of: address) else { preconditionFailure("the page's address is bounded") }
    let side = code.modules.count + 8
    let name = Self.escaped(plant.name.text)
    // A long name is squeezed to the width beside the code.
    let isLong = plant.name.text.unicodeScalars.count > 11
    let width = isLong ? #" textLength="64" lengthAdjust="spacingAndGlyphs""# : ""
    return """
      <svg xmlns="http://www.w3.org/2000/svg" width="60mm" height="25mm" viewBox="0 0 120 50" role="img" aria-label="\(name)">
      <rect width="120" height="50" fill="#fff"/>
      <svg width="50" height="50" viewBox="0 0 \(side) \(side)" shape-rendering="crispEdges"><path d="\(Self.dark(code))" fill="#000"/></svg>
      <text x="52" y="26" font-family="sans-serif" font-size="9.5" font-weight="bold"\(width)>\(name)</text>
      <text x="52" y="35" font-family="sans-serif" font-size="5">plant \(plant.id)</text>
      </svg>

      """
  }

  /// Returns the dark modules as SVG, with each run of a row as one rectangle.
  private static func dark(_ code: QRCode) -> String {
    var path = ""
    for (y, row) in code.modules.enumerated() {
      var x = 0
      while x < row.count {
        let end = row[x...].firstIndex { $0 != row[x] } ?? row.count
        if row[x] { path += "M\(x + 4) \(y + 4)h\(end - x)v1h-\(end - x)z" }
        x = end
      }
    }
    return path
  }

  private static func escaped(_ text: String) -> String {
    text.unicodeScalars.reduce(into: "") { result, scalar in
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      // XML does not allow these two characters.
      case "\u{FFFE}", "\u{FFFF}": result += "\u{FFFD}"
      default: result.unicodeScalars.append(scalar)
      }
    }
  }
}
