public import HTTPTypes

extension MockServer {
    /// Responses by method and path.
    ///
    /// ```swift
    /// let routes = MockServer.Routes {
    ///     $0.on(.get, "/posts", .json("[]"))
    ///     $0.on(.post, "/posts") { request in .text(request.bodyText, status: .created) }
    ///     $0.on("/files/*") { request in .text(request.path) }
    /// }
    /// ```
    ///
    /// The first matching route answers a request. A path that ends in `/*` matches all paths below it. A route for
    /// `GET` also answers `HEAD`. Without a matching route the status is 405 when a route matches the path, and 404
    /// otherwise.
    public struct Routes: Sendable {
        private struct Route {
            let method: HTTPRequest.Method?
            let path: String
            let handler: Handler

            func matches(path other: String) -> Bool {
                path.hasSuffix("/*") ? other.hasPrefix(path.dropLast()) : other == path
            }

            func matches(method other: HTTPRequest.Method) -> Bool {
                method == nil || method == other || (method == .get && other == .head)
            }
        }

        private var routes: [Route] = []

        /// Creates an empty list of routes.
        public init() {}

        /// Creates a list of routes with a closure that adds them.
        public init(_ build: (inout Routes) -> Void) {
            build(&self)
        }

        /// Adds a route for one method.
        public mutating func on(_ method: HTTPRequest.Method, _ path: String, respond: @escaping Handler) {
            on(method as HTTPRequest.Method?, path, respond)
        }

        /// Adds a route for one method, or for all.
        package mutating func on(_ method: HTTPRequest.Method?, _ path: String, _ respond: @escaping Handler) {
            routes.append(Route(method: method, path: path, handler: respond))
        }

        /// Adds a route for one method with a fixed response.
        public mutating func on(_ method: HTTPRequest.Method, _ path: String, _ response: MockResponse) {
            on(method, path) { _ in response }
        }

        /// Adds a route for all methods.
        public mutating func on(_ path: String, respond: @escaping Handler) {
            on(nil, path, respond)
        }

        /// Adds a route for all methods with a fixed response.
        public mutating func on(_ path: String, _ response: MockResponse) {
            on(path) { _ in response }
        }

        /// Answers a request, also without a route.
        package func respond(to request: RecordedRequest) async -> MockResponse {
            if let handler = handler(for: request) { return await handler(request) }
            let isKnown = routes.contains { $0.matches(path: request.path) }
            return .status(isKnown ? .methodNotAllowed : .notFound)
        }

        /// The handler of the first matching route; nil if none matches.
        package func handler(for request: RecordedRequest) -> Handler? {
            routes.first { $0.matches(path: request.path) && $0.matches(method: request.method) }?.handler
        }
    }
}
