public import FoundationEssentials
internal import HTTPTypes
public import LinnetSerialization

/// A request, with the members of Foundation's `URLRequest`, which exists on Linux in FoundationNetworking alone.
///
/// ```swift
/// var request = URLRequest(url: url)
/// request.httpMethod = "POST"
/// request.setValue("application/json", forHTTPHeaderField: "Content-Type")
/// request.httpBody = data
/// ```
/// It is sent as it is. A part that cannot be sent, such as a header field with a line feed, is an error of its task.
public struct URLRequest: Sendable {
    /// How stored responses may be used; without effect in a session without a cache.
    public enum CachePolicy: Int, Sendable {
        /// As HTTP defines (RFC 9111).
        case useProtocolCachePolicy = 0
        /// Stored responses are not used.
        case reloadIgnoringLocalCacheData = 1
        /// A stored response is used whatever its age; the server is contacted only if there is none.
        case returnCacheDataElseLoad = 2
        /// A stored response is used whatever its age; if there is none, the request fails.
        case returnCacheDataDontLoad = 3
        /// Stored responses are used neither here nor by the caches on the way.
        case reloadIgnoringLocalAndRemoteCacheData = 4
        /// A stored response is used only after the server confirms it.
        case reloadRevalidatingCacheData = 5
    }

    /// The purpose of a request: a hint for Apple's systems.
    public enum NetworkServiceType: UInt, Sendable {
        /// Ordinary traffic.
        case `default` = 0
        /// Video.
        case video = 2
        /// Traffic that the user does not wait for.
        case background = 3
        /// Voice.
        case voice = 4
        /// Data that the user waits for.
        case responsiveData = 6
        /// Audio and video that play while they arrive.
        case avStreaming = 8
        /// Audio and video that play at once.
        case responsiveAV = 9
        /// Control of a call.
        case callSignaling = 11
    }

    /// The URL; a request without one fails.
    public var url: URL?
    /// The content; nil sends none.
    public var body: HTTPRequestBody?
    /// Settings for this request only, which Linnet has beyond Foundation's.
    public var options: RequestOptions
    private var fields = HTTPFields()
    /// The header fields that cannot be sent.
    private var invalidFields: [(name: String, value: String)] = []
    private var method: String

    /// Creates a request with the method GET.
    ///
    /// - Parameters:
    ///   - url: The URL.
    ///   - cachePolicy: How stored responses may be used. The default is the session's.
    ///   - timeoutInterval: The time limit in seconds without a byte from the server. The default is the
    ///     session's.
    public init(url: URL, cachePolicy: CachePolicy = .useProtocolCachePolicy, timeoutInterval: Double = 60) {
        self.init(SessionRequest(url: url))
        if cachePolicy != .useProtocolCachePolicy { self.cachePolicy = cachePolicy }
        if timeoutInterval != 60 { self.timeoutInterval = timeoutInterval }
    }

    /// Creates a request with the members of Linnet's.
    public init(_ request: SessionRequest) {
        url = request.url
        method = request.method.rawValue
        body = request.body
        options = request.options
        fields = request.headerFields
    }

    /// The method. Nil sets GET.
    public var httpMethod: String? {
        get { method }
        set { method = newValue ?? "GET" }
    }

    /// The content, if it is in memory.
    public var httpBody: Data? {
        get { body?.data }
        set { body = newValue.map { .data($0) } }
    }

    /// The header fields. The values of fields with equal names are joined by commas.
    public var allHTTPHeaderFields: [String: String]? {
        get {
            let all = fields.map { ($0.name.rawName, $0.value) } + invalidFields.map { ($0.name, $0.value) }
            return Dictionary(all) { "\($0),\($1)" }
        }
        set {
            (fields, invalidFields) = ([:], [])
            for (name, value) in (newValue ?? [:]).sorted(by: { $0.key < $1.key }) {
                addValue(value, forHTTPHeaderField: name)
            }
        }
    }

    /// The time limit in seconds without a byte from the server.
    public var timeoutInterval: Double {
        get { options.idleTimeout.map { $0 / .seconds(1) } ?? 60 }
        set { options.idleTimeout = newValue < 1e9 ? .seconds(max(newValue, 0)) : .seconds(Int64.max) }
    }

    /// How stored responses may be used.
    public var cachePolicy: CachePolicy {
        get { CachePolicy(options.cachePolicy) }
        set { options.cachePolicy = newValue.policy }
    }

    /// Whether stored cookies are sent, and the response's stored.
    public var httpShouldHandleCookies: Bool {
        get { options.usesCookies ?? true }
        set { options.usesCookies = newValue }
    }

    /// Whether expensive networks, such as cellular ones, may be used; false requires a session that watches the
    /// network.
    public var allowsCellularAccess: Bool {
        get { options.allowsExpensiveNetworks ?? true }
        set { options.allowsExpensiveNetworks = newValue }
    }

    /// The URL of the document that the user sees.
    public var mainDocumentURL: URL? {
        get { options.mainDocument }
        set { options.mainDocument = newValue }
    }

    /// Returns the value of a header field, whatever the case of its name; values of several are joined by commas.
    public func value(forHTTPHeaderField field: String) -> String? {
        var values = HTTPField.Name(field).map { fields[values: $0] } ?? []
        for other in invalidFields where other.name.isEqualFieldName(field) { values.append(other.value) }
        return values.isEmpty ? nil : values.joined(separator: ",")
    }

    /// Sets a header field in the place of those with its name; nil removes them.
    public mutating func setValue(_ value: String?, forHTTPHeaderField field: String) {
        if !invalidFields.isEmpty { invalidFields.removeAll { $0.name.isEqualFieldName(field) } }
        if let name = HTTPField.Name(field) { fields[values: name] = [] }
        if let value { addValue(value, forHTTPHeaderField: field) }
    }

    /// Adds a header field.
    public mutating func addValue(_ value: String, forHTTPHeaderField field: String) {
        if let name = HTTPField.Name(field), HTTPField.isValidValue(value) {
            fields.append(HTTPField(name: name, value: value))
        } else {
            invalidFields.append((field, value))
        }
    }

    /// The request as a call sends it.
    ///
    /// - Throws: ``SessionError`` with `invalidURL` without a URL, and with `invalidRequest` for a method or a header
    ///   field that cannot be sent.
    func made() throws(SessionError) -> SessionRequest {
        guard let url else { throw SessionError(.invalidURL, "The request has no URL.") }
        guard let method = HTTPRequest.Method(method) else {
            throw SessionError(.invalidRequest, "The method \(method.debugDescription) is not a token.", url: url)
        }
        if let (name, _) = invalidFields.first {
            throw SessionError(
                .invalidRequest, "The header field \(name.debugDescription) cannot be sent.", url: url)
        }
        return SessionRequest(url: url, method: method, headerFields: fields, body: body, options: options)
    }
}

extension URLRequest.CachePolicy {
    init(_ policy: RequestOptions.CachePolicy?) {
        self = Self.all.first { $0.policy == policy } ?? .useProtocolCachePolicy
    }

    private static var all: [URLRequest.CachePolicy] { (0...5).compactMap { URLRequest.CachePolicy(rawValue: $0) } }

    var policy: RequestOptions.CachePolicy {
        switch self {
        case .useProtocolCachePolicy: .protocolDefined
        case .reloadIgnoringLocalCacheData: .reloadIgnoringCache
        case .returnCacheDataElseLoad: .cacheElseLoad
        case .returnCacheDataDontLoad: .cacheOnly
        case .reloadIgnoringLocalAndRemoteCacheData: .reloadIgnoringAllCaches
        case .reloadRevalidatingCacheData: .revalidate
        }
    }
}

extension String {
    /// Whether two names of header fields are equal (RFC 9110, section 5.1).
    fileprivate func isEqualFieldName(_ other: String) -> Bool { lowercased() == other.lowercased() }
}
