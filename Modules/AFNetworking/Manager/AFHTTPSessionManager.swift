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
        super.init(sessionConfiguration: sessionConfiguration)
    }

    /// Creates a manager with the base URL, the configuration, the serializers and the policy of another.
    public required convenience init(copying other: AFURLSessionManager) {
        let manager = other as? AFHTTPSessionManager
        self.init(baseURL: manager?.baseURL, sessionConfiguration: other.sessionConfiguration)
        if let manager { requestSerializer = manager.requestSerializer }
        responseSerializer = other.responseSerializer
        securityPolicy = other.securityPolicy
    }

    /// Writes parameters. The default is ``AFHTTPRequestSerializer``.
    open var requestSerializer: AFHTTPRequestSerializer {
        get { serializer.withLock { $0 } }
        set { serializer.withLock { $0 = newValue } }
    }

    // MARK: Verbs

    /// Sends GET. The progress is that of the response's body.
    @discardableResult
    open func get(
        _ URLString: String, parameters: Any? = nil, headers: [String: String]? = nil, progress: ProgressBlock? = nil,
        success: SuccessBlock? = nil, failure: FailureBlock? = nil
    ) -> URLSessionDataTask? {
        run(
            "GET", URLString, parameters, headers, TaskBlocks(download: progress, Self.completion(success, failure)),
            failure)
    }

    /// Sends HEAD.
    @discardableResult
    open func head(
        _ URLString: String, parameters: Any? = nil, headers: [String: String]? = nil,
        success: (@Sendable (URLSessionDataTask) -> Void)? = nil, failure: FailureBlock? = nil
    ) -> URLSessionDataTask? {
        let completion = Self.completion({ task, _ in success?(task) }, failure)
        return run("HEAD", URLString, parameters, headers, TaskBlocks(completion), failure)
    }

    /// Sends POST. The progress is that of the request's body.
    @discardableResult
    open func post(
        _ URLString: String, parameters: Any? = nil, headers: [String: String]? = nil, progress: ProgressBlock? = nil,
        success: SuccessBlock? = nil, failure: FailureBlock? = nil
    ) -> URLSessionDataTask? {
        run(
            "POST", URLString, parameters, headers, TaskBlocks(upload: progress, Self.completion(success, failure)),
            failure)
    }

    /// Sends POST with a form: the parameters, each as a part, and what a block appends. The progress is that of the
    /// request's body.
    @discardableResult
    open func post(
        _ URLString: String, parameters: Any? = nil, headers: [String: String]? = nil,
        constructingBodyWith block: ((any AFMultipartFormData) -> Void)?, progress: ProgressBlock? = nil,
        success: SuccessBlock? = nil, failure: FailureBlock? = nil
    ) -> URLSessionDataTask? {
        var error: NSError?
        guard let url = url(URLString) else { return fail(.badURL(URLString), failure) }
        let request = requestSerializer.multipartFormRequest(
            withMethod: "POST", urlString: url.absoluteString, parameters: parameters as? [String: Any],
            constructingBodyWith: block, error: &error)
        guard var request else { return fail(error ?? .badURL(URLString), failure) }
        complete(&request, headers)
        let blocks = TaskBlocks(upload: progress, Self.completion(success, failure))
        let task: URLSessionUploadTask = makeTask(request, .success(request.body), blocks)
        task.resume()
        return task
    }

    /// Sends PUT.
    @discardableResult
    open func put(
        _ URLString: String, parameters: Any? = nil, headers: [String: String]? = nil, success: SuccessBlock? = nil,
        failure: FailureBlock? = nil
    ) -> URLSessionDataTask? {
        run("PUT", URLString, parameters, headers, TaskBlocks(Self.completion(success, failure)), failure)
    }

    /// Sends PATCH.
    @discardableResult
    open func patch(
        _ URLString: String, parameters: Any? = nil, headers: [String: String]? = nil, success: SuccessBlock? = nil,
        failure: FailureBlock? = nil
    ) -> URLSessionDataTask? {
        run("PATCH", URLString, parameters, headers, TaskBlocks(Self.completion(success, failure)), failure)
    }

    /// Sends DELETE.
    @discardableResult
    open func delete(
        _ URLString: String, parameters: Any? = nil, headers: [String: String]? = nil, success: SuccessBlock? = nil,
        failure: FailureBlock? = nil
    ) -> URLSessionDataTask? {
        run("DELETE", URLString, parameters, headers, TaskBlocks(Self.completion(success, failure)), failure)
    }

    /// Makes a task with any method, which is suspended until it is resumed.
    open func dataTask(
        withHTTPMethod method: String, urlString URLString: String, parameters: Any? = nil,
        headers: [String: String]? = nil, uploadProgress: ProgressBlock? = nil, downloadProgress: ProgressBlock? = nil,
        success: SuccessBlock? = nil, failure: FailureBlock? = nil
    ) -> URLSessionDataTask? {
        let completion = Self.completion(success, failure)
        return make(
            method, URLString, parameters, headers,
            TaskBlocks(upload: uploadProgress, download: downloadProgress, completion), failure)
    }

    // MARK: Making

    private func run(
        _ method: String, _ URLString: String, _ parameters: Any?, _ headers: [String: String]?, _ blocks: TaskBlocks,
        _ failure: FailureBlock?
    ) -> URLSessionDataTask? {
        let task = make(method, URLString, parameters, headers, blocks, failure)
        task?.resume()
        return task
    }

    private func make(
        _ method: String, _ URLString: String, _ parameters: Any?, _ headers: [String: String]?, _ blocks: TaskBlocks,
        _ failure: FailureBlock?
    ) -> URLSessionDataTask? {
        var error: NSError?
        guard let url = url(URLString) else { return fail(.badURL(URLString), failure) }
        let request = requestSerializer.request(
            withMethod: method, urlString: url.absoluteString, parameters: parameters, error: &error)
        guard var request else { return fail(error ?? .badURL(URLString), failure) }
        complete(&request, headers)
        return makeTask(request, .success(request.body), blocks)
    }

    private func url(_ text: String) -> URL? { URL(string: text, relativeTo: baseURL)?.absoluteURL }

    /// Removes the serializer's credentials from a request to another origin than the base URL's, and adds a request's
    /// own fields.
    private func complete(_ request: inout URLRequest, _ headers: [String: String]?) {
        if let baseURL, let url = request.url, !url.hasOrigin(of: baseURL) {
            for name in Redaction.standard.credentialNames { request.setValue(nil, forHTTPHeaderField: name.rawName) }
        }
        for (name, value) in headers ?? [:] { request.setValue(value, forHTTPHeaderField: name) }
    }

    /// Calls `failure` on the completion queue, for a request that could not be made.
    private func fail(_ error: NSError, _ failure: FailureBlock?) -> URLSessionDataTask? {
        if let failure { (completionQueue ?? .main).async { failure(nil, error) } }
        return nil
    }

    private static func completion(_ success: SuccessBlock?, _ failure: FailureBlock?) -> TaskBlocks.Completion {
        { task, _, object, error in
            let task = task as? URLSessionDataTask
            if let error {
                failure?(task, error)
            } else if let task {
                success?(task, object)
            }
        }
    }
}

extension URL {
    fileprivate func hasOrigin(of other: URL) -> Bool {
        guard let own = try? RequestTarget(parsing: self), let known = try? RequestTarget(parsing: other) else {
            return false
        }
        return own.origin == known.origin
    }
}
