public import Foundation  // NSObject, NSCopying
internal import HTTPTypes
internal import LinnetMessages
internal import LinnetMultipart
public import LinnetSerialization
internal import LinnetSession
internal import Synchronization

/// Writes parameters into a request.
public protocol AFURLRequestSerialization: NSObjectProtocol, NSSecureCoding, NSCopying, Sendable {
    /// Returns the request with the parameters; nil with an error if they cannot be written.
    func request(
        bySerializing request: URLRequest, withParameters parameters: Any?, error: NSErrorPointer
    ) -> URLRequest?
}

/// How a query is written.
public enum AFHTTPRequestQueryStringSerializationStyle: UInt, Sendable {
    /// As ``AFQueryStringFromParameters(_:)`` writes it.
    case defaultStyle = 0
}

// SAFETY: The mutable state is in a mutex.
/// Writes parameters into the query of GET, HEAD and DELETE, and as a form into the body of the others: AFNetworking's
/// face of `FormRequestSerializer`.
///
/// All members can be used from any thread. A request has the values that were set when it was made.
open class AFHTTPRequestSerializer: NSObject, AFURLRequestSerialization, @unchecked Sendable {
    /// Writes a query or a form; nil with an error if it cannot.
    public typealias QueryStringBlock =
        @Sendable (
            _ request: URLRequest, _ parameters: Any, _ error: NSErrorPointer
        ) -> String?

    struct State {
        var settings = RequestSerializerSettings()
        var query: QueryStringBlock?
        var stringEncoding = String.Encoding.utf8.rawValue
        var pipelines = false
        var networkServiceType = URLRequest.NetworkServiceType.default
        /// The settings of the subclasses.
        var writingOptions: JSONSerialization.WritingOptions = []
        var format = PropertyListSerialization.PropertyListFormat.xml
        var writeOptions: PropertyListSerialization.WriteOptions = 0
    }

    let state: Mutex<State>

    /// Creates a serializer with the defaults.
    public override init() { state = Mutex(State()) }

    /// Decodes a serializer, or makes a copy of one; nil for an archive that has none.
    public required init?(coder: NSCoder) {
        let original = coder.original(as: AFHTTPRequestSerializer.self)?.state.withLock { $0 }
        let settings = coder.decodeSettings(ArchivedRequestSerializer.self, of: Self.key)
        guard let decoded = original ?? settings?.state else { return nil }
        state = Mutex(decoded)
        super.init()
    }

    private static let key = "AFHTTPRequestSerializer"

    /// Archives are secure.
    open class var supportsSecureCoding: Bool { true }

    /// Encodes all settings except the block, and except header fields with credentials, such as Authorization.
    open func encode(with coder: NSCoder) {
        coder.encode(settings: ArchivedRequestSerializer(state.withLock { $0 }), of: Self.key)
    }

    /// Returns a serializer with the same settings and the same block, made by `init(coder:)`.
    open func copy(with zone: NSZone? = nil) -> Any { CopyingCoder.copy(of: self) ?? AFHTTPRequestSerializer() }

    // MARK: Header fields

    /// The header fields that requests get in addition to their own.
    open var httpRequestHeaders: [String: String] {
        let fields = state.withLock { $0.settings.headerFields }
        return Dictionary(fields.map { ($0.name.rawName, $0.value) }) { "\($0), \($1)" }
    }

    /// Sets a header field; nil removes it. A field that cannot be sent, such as a value with a line feed, is not set.
    open func setValue(_ value: String?, forHTTPHeaderField field: String) {
        state.withLock { state in
            try? state.settings.headerFields.set(value, forName: field)
        }
    }

    /// Returns the value of a header field.
    open func value(forHTTPHeaderField field: String) -> String? {
        guard let name = HTTPField.Name(field) else { return nil }
        return state.withLock { $0.settings.headerFields[name] }
    }

    /// Sets Authorization to the Basic scheme (RFC 7617). A user name with a colon cannot be sent, and is not set.
    open func setAuthorizationHeaderFieldWithUsername(_ username: String, password: String) {
        state.withLock { state in
            try? state.settings.headerFields.setBasicAuthorization(username: username, password: password)
        }
    }

    /// Removes Authorization.
    open func clearAuthorizationHeader() {
        state.withLock { $0.settings.headerFields[.authorization] = nil }
    }

    // MARK: Options

    /// The encoding of texts. Everything is written in UTF-8, whatever this is set to.
    open var stringEncoding: UInt {
        get { state.withLock { $0.stringEncoding } }
        set { state.withLock { $0.stringEncoding = newValue } }
    }

    /// Whether requests may be sent before the response to the last one; false by default. It is a wish that is never
    /// followed, as by Foundation: responses in the wrong order are a danger (RFC 9112, section 9.3.2).
    open var httpShouldUsePipelining: Bool {
        get { state.withLock { $0.pipelines } }
        set { state.withLock { $0.pipelines = newValue } }
    }

    /// The purpose of requests. It is a hint for Apple's systems, without effect here.
    open var networkServiceType: URLRequest.NetworkServiceType {
        get { state.withLock { $0.networkServiceType } }
        set { state.withLock { $0.networkServiceType = newValue } }
    }

    /// Whether expensive networks, such as cellular ones, may be used.
    open var allowsCellularAccess: Bool {
        get { options.allowsExpensiveNetworks ?? true }
        set { options.allowsExpensiveNetworks = newValue }
    }

    /// How stored responses may be used.
    open var cachePolicy: URLRequest.CachePolicy {
        get { URLRequest.CachePolicy(options.cachePolicy) }
        set { options.cachePolicy = newValue.policy }
    }

    /// Whether stored cookies are sent, and cookies of responses stored.
    open var httpShouldHandleCookies: Bool {
        get { options.usesCookies ?? true }
        set { options.usesCookies = newValue }
    }

    /// The time limit in seconds without a byte from the server.
    open var timeoutInterval: TimeInterval {
        get { options.idleTimeout.map { $0 / .seconds(1) } ?? 60 }
        set { options.idleTimeout = newValue < 1e9 ? .seconds(max(newValue, 0)) : .seconds(Int64.max) }
    }

    /// The options that requests get in addition to their own.
    public var options: RequestOptions {
        get { state.withLock { $0.settings.requestOptions } }
        set { state.withLock { $0.settings.requestOptions = newValue } }
    }

    /// The methods whose parameters are written into the query.
    open var httpMethodsEncodingParametersInURI: Set<String> {
        get { Set(state.withLock { $0.settings.methodsEncodingParametersInURL }.map(\.rawValue)) }
        set {
            let methods = newValue.compactMap { HTTPRequest.Method($0) }
            state.withLock { $0.settings.methodsEncodingParametersInURL = Set(methods) }
        }
    }

    /// Writes queries and forms by a style, in the place of a block.
    open func setQueryStringSerializationWith(_ style: AFHTTPRequestQueryStringSerializationStyle) {
        state.replace(\.query, with: nil)
    }

    /// Writes queries and forms by a block; nil for the default style.
    open func setQueryStringSerializationWith(_ block: QueryStringBlock?) {
        state.replace(\.query, with: block)
    }

    // MARK: Requests

    /// Returns the request with the parameters, and with the header fields and options that it does not have.
    open func request(
        bySerializing request: URLRequest, withParameters parameters: Any?, error: NSErrorPointer
    ) -> URLRequest? {
        do {
            return try serialized(request, parameters)
        } catch let failure {
            error?.pointee = failure as NSError
            return nil
        }
    }

    /// Makes a request, and writes the parameters into it.
    ///
    /// - Throws: An `NSError` if it cannot be made.
    public func request(withMethod method: String, urlString: String, parameters: Any?) throws -> URLRequest {
        var error: NSError?
        let made = request(withMethod: method, urlString: urlString, parameters: parameters, error: &error)
        guard let made else { throw error ?? .badURL(urlString) }
        return made
    }

    /// Makes a request, and writes the parameters into it; nil with an error if it cannot be made.
    open func request(
        withMethod method: String, urlString: String, parameters: Any?, error: NSErrorPointer
    ) -> URLRequest? {
        guard let url = URL(string: urlString) else {
            error?.pointee = NSError.badURL(urlString)
            return nil
        }
        var request = URLRequest(url: url)
        request.httpMethod = method
        return self.request(bySerializing: request, withParameters: parameters, error: error)
    }

    /// The serializer of Linnet that writes what the class stands for.
    func serializer(_ state: State) -> any RequestSerializer { FormRequestSerializer(settings: state.settings) }

    /// Whether a value that the format does not have becomes its description.
    var isLenient: Bool { true }

    /// Why the format cannot have a value; nil if it can.
    func fault(in value: Any) -> String? { nil }

    private func serialized(_ request: URLRequest, _ parameters: Any?) throws -> URLRequest {
        var state = state.withLock { $0 }
        do {
            let made = try request.made()
            if let block = state.query, let parameters {
                var failure: NSError?
                let text = block(request, parameters, &failure)
                if let failure { throw failure }
                state.settings.queryEncoder = QueryEncoder(custom: { _, _ in text ?? "" })
            }
            let isInURL = state.settings.methodsEncodingParametersInURL.contains(made.method)
            if !isInURL, let reason = parameters.flatMap({ fault(in: $0) }) { throw NSError.unserializable(reason) }
            let root = try parameters.map { try ParameterValue(foundation: $0, isLenient: isLenient || isInURL) }
            return URLRequest(try serializer(state).serialize(made, parameters: root.map { RequestParameters($0) }))
        } catch let foreign as ParameterValue.Foreign {
            throw NSError.unserializable("A value of the type \(foreign.type) is not valid here.")
        } catch let failure as SerializationError {
            throw NSError.unserializable(failure.underlying.map { "\($0)" } ?? failure.message)
        } catch let failure as SessionError {
            throw failure.nsError
        }
    }
}

extension FormRequestSerializer {
    /// One with the defaults, which take some time to make.
    private static let plain = FormRequestSerializer()

    init(settings: RequestSerializerSettings) {
        self = Self.plain
        self.settings = settings
    }
}

extension NSError {
    static func badURL(_ text: String) -> NSError {
        NSError(
            domain: NSURLErrorDomain, code: NSURLErrorBadURL,
            userInfo: [
                NSLocalizedDescriptionKey: "\(text.debugDescription) is not a URL."
            ])
    }

    static func unserializable(_ reason: String) -> NSError {
        NSError(
            domain: AFURLRequestSerializationErrorDomain, code: NSURLErrorCannotDecodeContentData,
            userInfo: [
                NSLocalizedDescriptionKey: "The parameters cannot be written: \(reason)",
                NSLocalizedFailureReasonErrorKey: reason,
            ])
    }
}
