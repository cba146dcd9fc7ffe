import HTTPTypes

/// All routes, found by path: what the server answers, and what 405 and the tests of the OpenAPI document read.
public struct RouteTable: Sendable {
  private struct Node {
    var names: [String: Node] = [:]
    /// Below a parameter: its name and what follows.
    var parameter: String?
    var below: [Node] = []
    var routes: [Route] = []
  }

  /// What a path leads to.
  struct Place: Sendable {
    /// One a method, never empty.
    let routes: [Route]
    let parameters: [String: String]

    /// HEAD asks for what GET would answer.
    func route(_ method: HTTPRequest.Method) -> Route? {
      let method = method == .head ? .get : method
      return routes.first { $0.method == method }
    }

    /// `GET, HEAD, PUT`
    var allow: String {
      let methods = routes.flatMap { $0.method == .get ? ["GET", "HEAD"] : [$0.method.rawValue] }
      return methods.sorted().joined(separator: ", ")
    }
  }

  /// As given.
  public let routes: [Route]
  private var root = Node()

  /// Two routes of one method and path, or a parameter with two names, are our bug.
  public init(_ routes: [Route]) {
    self.routes = routes
    for route in routes {
      precondition(
        route.method != .head && route.method != .options, "\(route.path): HEAD and OPTIONS come by themselves")
      let segments = route.path.split(separator: "/").map(String.init)
      Self.insert(route, segments[...], into: &root)
    }
  }

  private static func insert(_ route: Route, _ segments: ArraySlice<String>, into node: inout Node) {
    guard let first = segments.first else {
      precondition(!node.routes.contains { $0.method == route.method }, "\(route.method) \(route.path) twice")
      node.routes.append(route)
      return
    }
    if first.hasPrefix("{"), first.hasSuffix("}") {
      let name = String(first.dropFirst().dropLast())
      precondition(node.parameter == nil || node.parameter == name, "\(route.path): {\(node.parameter!)} elsewhere")
      node.parameter = name
      if node.below.isEmpty { node.below.append(Node()) }
      insert(route, segments.dropFirst(), into: &node.below[0])
    } else {
      insert(route, segments.dropFirst(), into: &node.names[first, default: Node()])
    }
  }

  /// The place of a path, or `nil` if there is none. A name goes before a parameter: `/zones/all` before `/zones/{id}`.
  func place(_ segments: [String]) -> Place? {
    var node = root
    var parameters: [String: String] = [:]
    for segment in segments {
      if let next = node.names[segment] {
        node = next
      } else if let next = node.below.first, !segment.isEmpty {
        parameters[node.parameter!] = segment
        node = next
      } else {
        return nil
      }
    }
    return node.routes.isEmpty ? nil : Place(routes: node.routes, parameters: parameters)
  }

  /// Documents kept ready, by their exact path.
  var prepared: [String: (route: Route, document: PreparedDocument)] {
    var result: [String: (route: Route, document: PreparedDocument)] = [:]
    for route in routes {
      if case .prepared(let document) = route.handling { result[route.path] = (route, document) }
    }
    return result
  }
}
