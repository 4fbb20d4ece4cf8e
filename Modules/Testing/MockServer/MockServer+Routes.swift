public import HTTPTypes

extension MockServer {
    /// Answers by method and path.
    ///
    /// ```swift
    /// let routes = MockServer.Routes {
    ///     $0.on(.get, "/posts", .json("[]"))
    ///     $0.on(.post, "/posts") { request in .text(request.bodyText, status: .created) }
    ///     $0.on("/files/*") { request in .text(request.path) }
    /// }
    /// ```
    ///
    /// The first route that matches answers. A path that ends in `/*` matches all below it. `HEAD` is answered by a
    /// route for `GET`. What matches no route is answered with 404, or with 405 when only the method is wrong.
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

        /// No routes.
        public init() {}

        /// The routes that a closure adds.
        public init(_ build: (inout Routes) -> Void) {
            build(&self)
        }

        /// Adds a route for one method.
        public mutating func on(_ method: HTTPRequest.Method, _ path: String, respond: @escaping Handler) {
            routes.append(Route(method: method, path: path, handler: respond))
        }

        /// Adds a route for one method, whose response is always the same.
        public mutating func on(_ method: HTTPRequest.Method, _ path: String, _ response: MockResponse) {
            on(method, path) { _ in response }
        }

        /// Adds a route for all methods.
        public mutating func on(_ path: String, respond: @escaping Handler) {
            routes.append(Route(method: nil, path: path, handler: respond))
        }

        /// Adds a route for all methods, whose response is always the same.
        public mutating func on(_ path: String, _ response: MockResponse) {
            on(path) { _ in response }
        }

        /// The response to a request.
        public func respond(to request: RecordedRequest) async -> MockResponse {
            let candidates = routes.filter { $0.matches(path: request.path) }
            if let route = candidates.first(where: { $0.matches(method: request.method) }) {
                return await route.handler(request)
            }
            return .status(candidates.isEmpty ? .notFound : .methodNotAllowed)
        }
    }
}
