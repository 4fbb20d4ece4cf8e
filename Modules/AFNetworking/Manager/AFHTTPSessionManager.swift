// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names are AFNetworking's.

internal import Dispatch
public import Foundation  // NSError
internal import LinnetMessages
internal import LinnetSerialization
internal import LinnetSession
internal import Synchronization

// SAFETY: The mutable state is in a mutex; the other properties are constant and Sendable.
/// Sends requests to one server, with parameters that a serializer writes.
///
/// ```swift
/// final class APIClient: AFHTTPSessionManager, @unchecked Sendable {
///     static let shared = APIClient(baseURL: URL(string: "https://api.example.com/"))
/// }
/// APIClient.shared.get("posts", parameters: ["page": 1], success: { task, object in … }, failure: { task, error in … })
/// ```
/// A verb starts a task, and calls `success` or `failure` exactly once, on the completion queue.
open class AFHTTPSessionManager: AFURLSessionManager, @unchecked Sendable {
    /// The outcome of a request that succeeded: its task, and what the serializer returned.
    public typealias SuccessBlock = @Sendable (URLSessionDataTask, Any?) -> Void
    /// The outcome of a request that failed: its task, which is nil if no request could be made, and the error.
    public typealias FailureBlock = @Sendable (URLSessionDataTask?, any Error) -> Void

    /// The URL that paths are resolved against; its path, if there is one, ends with a slash.
    public let baseURL: URL?
    /// The origin of the base URL, which is not parsed for each request.
    private let baseOrigin: KnownOrigin?
    /// The text of the base URL, if appending a plain path resolves it.
    private let prefix: String?
    private let serializer = Mutex<AFHTTPRequestSerializer>(AFHTTPRequestSerializer())

    /// Creates a manager without a base URL.
    public convenience init() { self.init(baseURL: nil, sessionConfiguration: nil) }

    /// Creates a manager without a base URL; nil for the default configuration.
    public override convenience init(sessionConfiguration: URLSessionConfiguration?) {
        self.init(baseURL: nil, sessionConfiguration: sessionConfiguration)
    }

    /// Creates a manager with the default configuration.
    public convenience init(baseURL: URL?) { self.init(baseURL: baseURL, sessionConfiguration: nil) }

    /// Creates a manager.
    ///
    /// - Parameters:
    ///   - baseURL: The URL that paths are resolved against. If its path has no slash at its end, one is added.
    ///   - sessionConfiguration: The configuration; nil for the default one.
    public init(baseURL: URL?, sessionConfiguration: URLSessionConfiguration?) {
        self.baseURL = baseURL.map { url in
            url.path().isEmpty || url.path().hasSuffix("/") ? url : url.appending(path: "", directoryHint: .isDirectory)
        }
        baseOrigin = self.baseURL.flatMap { KnownOrigin($0) }
        prefix = self.baseURL.flatMap { base in
            guard base.query() == nil, base.fragment() == nil else { return nil }
            let text = base.absoluteString
            if base.path().isEmpty { return text + "/" }
            return text.hasSuffix("/") ? text : nil
        }
        super.init(sessionConfiguration: sessionConfiguration)
    }

    /// Decodes a manager, or makes a copy of one; nil for an archive that has none, or whose policy
    /// cannot be decoded.
    public required convenience init?(coder: NSCoder) {
        if let original = coder.original(as: AFHTTPSessionManager.self) {
            self.init(baseURL: original.baseURL, sessionConfiguration: original.sessionConfiguration)
            requestSerializer = original.requestSerializer
            responseSerializer = original.responseSerializer
            securityPolicy = original.securityPolicy
            return
        }
        guard let configuration = coder.decodeConfiguration(),
            let policy = coder.decode(AFSecurityPolicy.self, of: "securityPolicy")
        else { return nil }
        let base = coder.decodeSettings(String.self, of: "baseURL").flatMap { URL(string: $0) }
        self.init(baseURL: base, sessionConfiguration: configuration)
        securityPolicy = policy
        if let serializer = coder.decode(AFHTTPRequestSerializer.self, of: "requestSerializer") {
            requestSerializer = serializer
        }
        if let serializer = coder.decode(AFHTTPResponseSerializer.self, of: "responseSerializer") {
            responseSerializer = serializer
        }
    }

    /// Encodes the base URL without its user and password, the configuration, the serializers and the policy. A
    /// response serializer that is no ``AFHTTPResponseSerializer`` is decoded as the default one.
    open override func encode(with coder: NSCoder) {
        super.encode(with: coder)
        guard coder.allowsKeyedCoding else { return }
        if let base = baseURL?.withoutCredentials { coder.encode(settings: base.absoluteString, of: "baseURL") }
        coder.encode(requestSerializer, forKey: "requestSerializer")
        coder.encode(securityPolicy, forKey: "securityPolicy")
        if let serializer = responseSerializer as? AFHTTPResponseSerializer {
            coder.encode(serializer, forKey: "responseSerializer")
        }
    }

    /// Writes parameters. The default is ``AFHTTPRequestSerializer``.
    open var requestSerializer: AFHTTPRequestSerializer {
        get { serializer.withLock { $0 } }
        set { serializer.replace(\.self, with: newValue) }
    }

    // MARK: Verbs

    /// Sends GET. The progress counts the response's body.
    @discardableResult
    open func get(
        _ URLString: String, parameters: Any? = nil, headers: [String: String]? = nil, progress: ProgressBlock? = nil,
        success: SuccessBlock? = nil, failure: FailureBlock? = nil
    ) -> URLSessionDataTask? {
        started(
            dataTask(
                withHTTPMethod: "GET", urlString: URLString, parameters: parameters, headers: headers,
                uploadProgress: nil, downloadProgress: progress, success: success, failure: failure))
    }

    /// Sends HEAD.
    @discardableResult
    open func head(
        _ URLString: String, parameters: Any? = nil, headers: [String: String]? = nil,
        success: (@Sendable (URLSessionDataTask) -> Void)? = nil, failure: FailureBlock? = nil
    ) -> URLSessionDataTask? {
        started(
            dataTask(
                withHTTPMethod: "HEAD", urlString: URLString, parameters: parameters, headers: headers,
                uploadProgress: nil, downloadProgress: nil, success: { task, _ in success?(task) }, failure: failure))
    }

    /// Sends POST. The progress counts the request's body.
    @discardableResult
    open func post(
        _ URLString: String, parameters: Any? = nil, headers: [String: String]? = nil, progress: ProgressBlock? = nil,
        success: SuccessBlock? = nil, failure: FailureBlock? = nil
    ) -> URLSessionDataTask? {
        started(
            dataTask(
                withHTTPMethod: "POST", urlString: URLString, parameters: parameters, headers: headers,
                uploadProgress: progress, downloadProgress: nil, success: success, failure: failure))
    }

    /// Sends POST with a form: the parameters, each as a part, and what a block appends. The progress counts the
    /// bytes of the request's body.
    @discardableResult
    open func post(
        _ URLString: String, parameters: Any? = nil, headers: [String: String]? = nil,
        constructingBodyWith block: ((any AFMultipartFormData) -> Void)?, progress: ProgressBlock? = nil,
        success: SuccessBlock? = nil, failure: FailureBlock? = nil
    ) -> URLSessionDataTask? {
        var error: NSError?
        guard let url = url(URLString) else { return fail(.badURL(URLString), failure) }
        let request = requestSerializer.multipartFormRequest(
            withMethod: "POST", urlString: url, parameters: parameters as? [String: Any],
            constructingBodyWith: block, error: &error)
        guard var request else { return fail(error ?? .badURL(URLString), failure) }
        complete(&request, headers)
        let made = MadeTask()
        let task = uploadTask(
            withStreamedRequest: request, progress: progress, completionHandler: made.completion(success, failure))
        made.take(task)
        task.resume()
        return task
    }

    /// Sends PUT.
    @discardableResult
    open func put(
        _ URLString: String, parameters: Any? = nil, headers: [String: String]? = nil, success: SuccessBlock? = nil,
        failure: FailureBlock? = nil
    ) -> URLSessionDataTask? {
        started(
            dataTask(
                withHTTPMethod: "PUT", urlString: URLString, parameters: parameters, headers: headers,
                uploadProgress: nil, downloadProgress: nil, success: success, failure: failure))
    }

    /// Sends PATCH.
    @discardableResult
    open func patch(
        _ URLString: String, parameters: Any? = nil, headers: [String: String]? = nil, success: SuccessBlock? = nil,
        failure: FailureBlock? = nil
    ) -> URLSessionDataTask? {
        started(
            dataTask(
                withHTTPMethod: "PATCH", urlString: URLString, parameters: parameters, headers: headers,
                uploadProgress: nil, downloadProgress: nil, success: success, failure: failure))
    }

    /// Sends DELETE.
    @discardableResult
    open func delete(
        _ URLString: String, parameters: Any? = nil, headers: [String: String]? = nil, success: SuccessBlock? = nil,
        failure: FailureBlock? = nil
    ) -> URLSessionDataTask? {
        started(
            dataTask(
                withHTTPMethod: "DELETE", urlString: URLString, parameters: parameters, headers: headers,
                uploadProgress: nil, downloadProgress: nil, success: success, failure: failure))
    }

    /// Makes a task with any method, which is suspended until it is resumed.
    open func dataTask(
        withHTTPMethod method: String, urlString URLString: String, parameters: Any? = nil,
        headers: [String: String]? = nil, uploadProgress: ProgressBlock? = nil, downloadProgress: ProgressBlock? = nil,
        success: SuccessBlock? = nil, failure: FailureBlock? = nil
    ) -> URLSessionDataTask? {
        var error: NSError?
        guard let url = url(URLString) else { return fail(.badURL(URLString), failure) }
        let request = requestSerializer.request(
            withMethod: method, urlString: url, parameters: parameters, error: &error)
        guard var request else { return fail(error ?? .badURL(URLString), failure) }
        complete(&request, headers)
        let made = MadeTask()
        let task = dataTask(
            with: request, uploadProgress: uploadProgress, downloadProgress: downloadProgress,
            completionHandler: made.completion(success, failure))
        made.take(task)
        return task
    }

    // MARK: Making

    private func started(_ task: URLSessionDataTask?) -> URLSessionDataTask? {
        task?.resume()
        return task
    }

    /// The URL that a path leads to, as text.
    private func url(_ text: String) -> String? {
        if let prefix, !text.isEmpty, URLResolver.isPlain(text) { return prefix + text }
        return URL(string: text, relativeTo: baseURL)?.absoluteString
    }

    /// Removes the serializer's credentials from a request to another origin than the base URL's, and adds a request's
    /// own fields.
    private func complete(_ request: inout URLRequest, _ headers: [String: String]?) {
        if let baseURL, let url = request.url, !hasOrigin(of: baseURL, url) {
            for name in Redaction.standard.credentialNames { request.setValue(nil, forHTTPHeaderField: name.rawName) }
        }
        for (name, value) in headers ?? [:] { request.setValue(value, forHTTPHeaderField: name) }
    }

    private func hasOrigin(of base: URL, _ url: URL) -> Bool {
        if let prefix, baseOrigin != nil, url.absoluteString.hasPrefix(prefix) { return true }
        guard let origin = baseOrigin?.origin ?? (try? RequestTarget(parsing: base).origin),
            let own = try? RequestTarget(parsing: url, expecting: baseOrigin)
        else { return false }
        return own.origin == origin
    }

    /// Calls `failure` on the completion queue, for a request that could not be made.
    private func fail(_ error: NSError, _ failure: FailureBlock?) -> URLSessionDataTask? {
        if let failure { (completionQueue ?? .main).async { failure(nil, error) } }
        return nil
    }
}

/// The task of a verb, which its blocks get: weakly until it starts, and then until the blocks were called, so that a
/// subclass may call them when the task has ended.
private final class MadeTask: Sendable {
    private struct State {
        weak var task: URLSessionDataTask?
        var started: URLSessionDataTask?
        var hasEnded = false
    }

    private let state = Mutex(State())

    func take(_ task: URLSessionDataTask) {
        state.withLock { $0.task = task }
        task.whenStarted { [self] task in
            state.withLock { state in
                if !state.hasEnded { state.started = task as? URLSessionDataTask }
            }
        }
    }

    private func end() -> URLSessionDataTask? {
        state.withLock { state in
            defer { (state.started, state.hasEnded) = (nil, true) }
            return state.started ?? state.task
        }
    }

    /// The blocks of a verb as one. They are told the last task that was made, also when a subclass has made another.
    func completion(
        _ success: AFHTTPSessionManager.SuccessBlock?, _ failure: AFHTTPSessionManager.FailureBlock?
    ) -> AFURLSessionManager.CompletionBlock {
        { _, object, error in
            let task = self.end()
            if let error {
                failure?(task, error)
            } else if let task {
                success?(task, object)
            }
        }
    }
}

extension URL {
    /// The URL without a user and a password; nil if it cannot be written.
    fileprivate var withoutCredentials: URL? {
        guard user() != nil || password() != nil else { return self }
        var parts = URLComponents(url: self, resolvingAgainstBaseURL: true)
        parts?.user = nil
        parts?.password = nil
        return parts?.url
    }
}
