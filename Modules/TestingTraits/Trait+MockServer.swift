public import LinnetTesting
public import Testing

extension Trait where Self == MockServerTrait {
    /// Starts a server for the test that answers requests with routes. A request without a route is an issue.
    ///
    /// ```swift
    /// @Test(.mockServer(routes: .init { $0.on(.get, "/posts", .json("[]")) }))
    /// ```
    ///
    /// - Parameters:
    ///   - routes: The routes.
    ///   - makeIdentity: Creates the certificate chain and key for TLS. Nil, the default, serves plain HTTP.
    ///   - configuration: The settings of the server.
    public static func mockServer(
        routes: MockServer.Routes,
        tls makeIdentity: MockServerTrait.MakeIdentity? = nil,
        configuration: MockServer.Configuration = MockServer.Configuration()
    ) -> Self {
        Self(makeAnswers: { RouteAnswers(routes) }, makeIdentity: makeIdentity, configuration: configuration)
    }

    /// Starts a server for the test that answers the requests with responses in this order. Each test has all of them.
    /// More or fewer requests than responses are an issue.
    ///
    /// ```swift
    /// @Test(.mockServer(script: [.status(.serviceUnavailable), .text("hello")]))
    /// ```
    ///
    /// - Parameters:
    ///   - responses: The responses.
    ///   - makeIdentity: Creates the certificate chain and key for TLS. Nil, the default, serves plain HTTP.
    ///   - configuration: The settings of the server.
    public static func mockServer(
        script responses: [MockResponse],
        tls makeIdentity: MockServerTrait.MakeIdentity? = nil,
        configuration: MockServer.Configuration = MockServer.Configuration()
    ) -> Self {
        Self(makeAnswers: { ScriptAnswers(responses) }, makeIdentity: makeIdentity, configuration: configuration)
    }

    /// Starts a server for the test that answers all requests with the same response.
    ///
    /// - Parameters:
    ///   - response: The response.
    ///   - makeIdentity: Creates the certificate chain and key for TLS. Nil, the default, serves plain HTTP.
    ///   - configuration: The settings of the server.
    public static func mockServer(
        _ response: MockResponse,
        tls makeIdentity: MockServerTrait.MakeIdentity? = nil,
        configuration: MockServer.Configuration = MockServer.Configuration()
    ) -> Self {
        mockServer(tls: makeIdentity, configuration: configuration, handler: { _ in response })
    }

    /// Starts a server for the test that answers requests with a closure.
    ///
    /// - Parameters:
    ///   - makeIdentity: Creates the certificate chain and key for TLS. Nil, the default, serves plain HTTP.
    ///   - configuration: The settings of the server.
    ///   - handler: Answers the requests.
    public static func mockServer(
        tls makeIdentity: MockServerTrait.MakeIdentity? = nil,
        configuration: MockServer.Configuration = MockServer.Configuration(),
        handler: @escaping MockServer.Handler
    ) -> Self {
        Self(makeAnswers: { HandlerAnswers(handler) }, makeIdentity: makeIdentity, configuration: configuration)
    }
}
