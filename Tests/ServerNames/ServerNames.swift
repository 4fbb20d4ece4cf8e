// The names of public types of Vapor, Hummingbird, swift-openapi-runtime, swift-certificates and async-http-client,
// which programs with a server use. `LinnetTests` imports them beside Linnet.

/// A type of a server's library.
public protocol ServerType: Sendable {
    /// Creates a value.
    init()
}

/// Has a name of a server's library.
public struct Abort: ServerType {
    /// Creates a value.
    public init() {}
}

/// Has a name of a server's library.
public struct Application: ServerType {
    /// Creates a value.
    public init() {}
}

/// Has a name of a server's library.
public struct Authenticator: ServerType {
    /// Creates a value.
    public init() {}
}

/// Has a name of a server's library.
public struct Body: ServerType {
    /// Creates a value.
    public init() {}
}

/// Has a name of a server's library.
public struct Cache: ServerType {
    /// Creates a value.
    public init() {}
}

/// Has a name of a server's library.
public struct Certificate: ServerType {
    /// Creates a value.
    public init() {}
}

/// Has a name of a server's library.
public struct Channel: ServerType {
    /// Creates a value.
    public init() {}
}

/// Has a name of a server's library.
public struct Client: ServerType {
    /// Creates a value.
    public init() {}
}

/// Has a name of a server's library.
public struct ClientRequest: ServerType {
    /// Creates a value.
    public init() {}
}

/// Has a name of a server's library.
public struct ClientResponse: ServerType {
    /// Creates a value.
    public init() {}
}

/// Has a name of a server's library.
public struct Content: ServerType {
    /// Creates a value.
    public init() {}
}

/// Has a name of a server's library.
public struct Cookie: ServerType {
    /// Creates a value.
    public init() {}
}

/// Has a name of a server's library.
public struct Cookies: ServerType {
    /// Creates a value.
    public init() {}
}

/// Has a name of a server's library.
public struct Environment: ServerType {
    /// Creates a value.
    public init() {}
}

/// Has a name of a server's library.
public struct ErrorMiddleware: ServerType {
    /// Creates a value.
    public init() {}
}

/// Has a name of a server's library.
public struct File: ServerType {
    /// Creates a value.
    public init() {}
}

/// Has a name of a server's library.
public struct HTTPBody: ServerType {
    /// Creates a value.
    public init() {}
}

/// Has a name of a server's library.
public struct HTTPClient: ServerType {
    /// Creates a value.
    public init() {}
}

/// Has a name of a server's library.
public struct HTTPClientRequest: ServerType {
    /// Creates a value.
    public init() {}
}

/// Has a name of a server's library.
public struct HTTPClientResponse: ServerType {
    /// Creates a value.
    public init() {}
}

/// Has a name of a server's library.
public struct HTTPError: ServerType {
    /// Creates a value.
    public init() {}
}

/// Has a name of a server's library.
public struct HTTPMediaType: ServerType {
    /// Creates a value.
    public init() {}
}

/// Has a name of a server's library.
public struct HTTPStatus: ServerType {
    /// Creates a value.
    public init() {}
}

/// Has a name of a server's library.
public struct MediaType: ServerType {
    /// Creates a value.
    public init() {}
}

/// Has a name of a server's library.
public struct Middleware: ServerType {
    /// Creates a value.
    public init() {}
}

/// Has a name of a server's library.
public struct Next: ServerType {
    /// Creates a value.
    public init() {}
}

/// Has a name of a server's library.
public struct Parameters: ServerType {
    /// Creates a value.
    public init() {}
}

/// Has a name of a server's library.
public struct Redirect: ServerType {
    /// Creates a value.
    public init() {}
}

/// Has a name of a server's library.
public struct Request: ServerType {
    /// Creates a value.
    public init() {}
}

/// Has a name of a server's library.
public struct RequestBody: ServerType {
    /// Creates a value.
    public init() {}
}

/// Has a name of a server's library.
public struct Responder: ServerType {
    /// Creates a value.
    public init() {}
}

/// Has a name of a server's library.
public struct Response: ServerType {
    /// Creates a value.
    public init() {}
}

/// Has a name of a server's library.
public struct ResponseBody: ServerType {
    /// Creates a value.
    public init() {}
}

/// Has a name of a server's library.
public struct Route: ServerType {
    /// Creates a value.
    public init() {}
}

/// Has a name of a server's library.
public struct Router: ServerType {
    /// Creates a value.
    public init() {}
}

/// Has a name of a server's library.
public struct Server: ServerType {
    /// Creates a value.
    public init() {}
}

/// Has a name of a server's library.
public struct ServerConfiguration: ServerType {
    /// Creates a value.
    public init() {}
}

/// Has a name of a server's library.
public struct Session: ServerType {
    /// Creates a value.
    public init() {}
}

/// Has a name of a server's library.
public struct SessionData: ServerType {
    /// Creates a value.
    public init() {}
}

/// Has a name of a server's library.
public struct SessionStorage: ServerType {
    /// Creates a value.
    public init() {}
}

/// Has a name of a server's library.
public struct Sessions: ServerType {
    /// Creates a value.
    public init() {}
}

/// Has a name of a server's library.
public struct Storage: ServerType {
    /// Creates a value.
    public init() {}
}

/// Has a name of a server's library.
public struct URI: ServerType {
    /// Creates a value.
    public init() {}
}

/// Has a name of a server's library.
public struct Validations: ServerType {
    /// Creates a value.
    public init() {}
}

/// Has a name of a server's library.
public struct View: ServerType {
    /// Creates a value.
    public init() {}
}

/// Has a name of a server's library.
public struct WebSocket: ServerType {
    /// Creates a value.
    public init() {}
}
