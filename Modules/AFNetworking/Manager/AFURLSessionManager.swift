internal import Dispatch
public import Foundation  // NSObject, OperationQueue
internal import LinnetMessages
internal import LinnetSecurity
internal import LinnetSerialization
internal import LinnetSession
internal import LinnetTransport
internal import Synchronization

// SAFETY: The mutable state is in a mutex; the other properties are constant and Sendable.
/// Makes tasks, and calls blocks with their outcomes: AFNetworking's face of `HTTPSession`.
///
/// ```swift
/// let manager = AFURLSessionManager(sessionConfiguration: .default)
/// let task = manager.dataTask(with: URLRequest(url: url)) { response, object, error in … }
/// task.resume()
/// ```
/// Blocks of a task and of the session come on ``operationQueue``; completion handlers on ``completionQueue``, which is
/// the main queue by default. A program without a main loop never processes the main queue, and sets another one.
///
/// A completion handler is called exactly once, and the notification of a task's end follows on the main queue.
/// Notifications are dropped where more than 10,000 wait for a main queue that has not run for a second. All members
/// can be used from any thread.
open class AFURLSessionManager: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    struct State {
        var session: URLSession?
        var responseSerializer: any AFURLResponseSerialization = AFJSONResponseSerializer()
        var securityPolicy = AFSecurityPolicy.default()
        var reachabilityManager = AFNetworkReachabilityManager.shared()
        var completionQueue: DispatchQueue?
        var completionGroup: DispatchGroup?
        var attemptsToRecreateUploads = false
        var lastNumber = 0
        /// The number of tasks of an earlier process that have not ended.
        var awaitedTasks = 0
        var tasks: [Int: WeakTask] = [:]
    }

    struct WeakTask {
        weak var task: URLSessionTask?
    }

    /// The queue of the session: a serial one, for blocks. Cancelling its operations does not cancel tasks.
    public var operationQueue: OperationQueue { blocks.queue.operations }
    let sessionConfiguration: URLSessionConfiguration
    let blocks: BlockTable
    let state = Mutex(State())

    /// Creates a manager; nil for the default configuration.
    public init(sessionConfiguration: URLSessionConfiguration?) {
        self.sessionConfiguration =
            sessionConfiguration.flatMap { $0.copy() as? URLSessionConfiguration } ?? .default
        blocks = BlockTable(on: SessionQueue())
        super.init()
        securityPolicy.observe(for: self) { [weak self] in self?.replace($0) }
        if self.sessionConfiguration.background != nil { openInBackground() }
    }

    /// Creates a manager with the default configuration.
    public convenience override init() { self.init(sessionConfiguration: nil) }

    deinit {
        let last = state.withLock { $0 }
        last.securityPolicy.observe(for: self, nil)
        // Running tasks retain the manager; what is left was never resumed.
        last.session?.end(.leaving)
    }

    /// Decodes a manager, or makes a copy of one; nil for an archive that has none.
    public required convenience init?(coder: NSCoder) {
        let original = coder.original(as: AFURLSessionManager.self)
        guard let configuration = original?.sessionConfiguration ?? coder.decodeConfiguration() else { return nil }
        self.init(sessionConfiguration: configuration)
        if let original { securityPolicy = original.securityPolicy }
    }

    /// Archives are secure.
    open class var supportsSecureCoding: Bool { true }

    /// Encodes the configuration, without its secrets, closures and objects: neither queues nor blocks.
    open func encode(with coder: NSCoder) { coder.encode(configuration: sessionConfiguration) }

    /// Returns a manager with the same configuration, made by `init(coder:)`: it has a session of its own, and no
    /// blocks.
    open func copy(with zone: NSZone? = nil) -> Any { CopyingCoder.copy(of: self) ?? AFURLSessionManager() }

    // MARK: Properties

    /// The session. After a reset, a new one is made when it is needed.
    open var session: URLSession {
        if let session = state.withLock({ $0.session }) { return session }
        let policy = securityPolicy.policy
        let made = URLSession.made(sessionConfiguration, policy, blocks)
        let session = state.withLock { state in
            let session = state.session ?? made
            state.session = session
            return session
        }
        // Another thread was faster.
        if session !== made {
            made.end(.leaving)
        } else if let engine = session.engine {
            open(engine, of: session)
        }
        return session
    }

    /// Reads the responses. The default is ``AFJSONResponseSerializer``. A task has the serializer that is set when it
    /// ends.
    open var responseSerializer: any AFURLResponseSerialization {
        get { state.withLock { $0.responseSerializer } }
        set { state.replace(\.responseSerializer, with: newValue) }
    }

    /// Decides whether servers are trusted. The default is ``AFSecurityPolicy/default()``.
    open var securityPolicy: AFSecurityPolicy {
        get { state.withLock { $0.securityPolicy } }
        set {
            let former = state.withLock { state in
                defer { state.securityPolicy = newValue }
                return state.securityPolicy
            }
            former.observe(for: self, nil)
            newValue.observe(for: self) { [weak self] in self?.replace($0) }
            replace(newValue.policy)
        }
    }

    /// The manager of the network's reachability, which the session manager neither starts nor asks. The default is the
    /// shared one.
    open var reachabilityManager: AFNetworkReachabilityManager {
        get { state.withLock { $0.reachabilityManager } }
        set { state.replace(\.reachabilityManager, with: newValue) }
    }

    /// The queue of completion handlers; nil, the default, is the main queue.
    open var completionQueue: DispatchQueue? {
        get { state.withLock { $0.completionQueue } }
        set { state.replace(\.completionQueue, with: newValue) }
    }

    /// The group that completion handlers are in; nil, the default, is none. A task enters it when it starts.
    open var completionGroup: DispatchGroup? {
        get { state.withLock { $0.completionGroup } }
        set { state.replace(\.completionGroup, with: newValue) }
    }

    /// The tasks that have not ended, in the order of their creation. A background session is opened first, and those
    /// that an earlier process has left are adopted.
    open var tasks: [URLSessionTask] {
        state.withLock { $0.session }?.engine?.waitForAdoption()
        return state.withLock { $0.tasks }.sorted { $0.key < $1.key }.compactMap(\.value.task)
    }

    /// The data tasks that have not ended; not the upload tasks.
    open var dataTasks: [URLSessionDataTask] {
        tasks.compactMap { $0 is URLSessionUploadTask ? nil : $0 as? URLSessionDataTask }
    }

    /// The upload tasks that have not ended.
    open var uploadTasks: [URLSessionUploadTask] { tasks.compactMap { $0 as? URLSessionUploadTask } }

    /// The download tasks that have not ended.
    open var downloadTasks: [URLSessionDownloadTask] { tasks.compactMap { $0 as? URLSessionDownloadTask } }

    /// Ends the session: at once with its tasks, or once they have ended. With a reset, further tasks have a new
    /// session; without one, they fail.
    open func invalidateSessionCancelingTasks(_ cancelPendingTasks: Bool, resetSession: Bool) {
        let session = session
        if resetSession { state.replace(\.session, with: nil) }
        session.end(cancelPendingTasks ? .cancelling : .finishing)
    }

    /// The progress of a task's request body; nil for a task of another manager, and once it has ended.
    open func uploadProgress(for task: URLSessionTask) -> Progress? { isRunning(task) ? task.progress().upload : nil }

    /// The progress of a task's response body; nil for a task of another manager, and once it has ended.
    open func downloadProgress(for task: URLSessionTask) -> Progress? {
        isRunning(task) ? task.progress().download : nil
    }

    // MARK: Tasks

    /// Makes a task that reads the response into memory.
    open func dataTask(
        with request: URLRequest, uploadProgress: ProgressBlock?, downloadProgress: ProgressBlock?,
        completionHandler: CompletionBlock? = nil
    ) -> URLSessionDataTask {
        makeTask(request, .success(request.body), TaskBlocks(uploadProgress, downloadProgress, completionHandler))
    }

    /// Makes a task that sends a file. One that cannot be read fails the task.
    open func uploadTask(
        with request: URLRequest, fromFile fileURL: URL, progress: ProgressBlock?,
        completionHandler: CompletionBlock? = nil
    ) -> URLSessionUploadTask {
        let body = Result { () throws(SessionError) -> HTTPRequestBody? in
            do throws(SerializationError) {
                return try .file(fileURL)
            } catch {
                throw SessionError(.fileFailed, error.message, underlying: error, url: request.url)
            }
        }
        return makeTask(request, body, TaskBlocks(progress, nil, completionHandler), file: fileURL)
    }

    /// Makes a task that sends data.
    open func uploadTask(
        with request: URLRequest, from bodyData: Data?, progress: ProgressBlock?,
        completionHandler: CompletionBlock? = nil
    ) -> URLSessionUploadTask {
        makeTask(request, .success(.data(bodyData ?? Data())), TaskBlocks(progress, nil, completionHandler))
    }

    /// Makes a task that sends the body of the request, such as a form.
    open func uploadTask(
        withStreamedRequest request: URLRequest, progress: ProgressBlock?,
        completionHandler: CompletionBlock? = nil
    ) -> URLSessionUploadTask {
        makeTask(request, .success(request.body), TaskBlocks(progress, nil, completionHandler))
    }

    /// Makes a task that writes the response to a file, which appears at its destination complete and valid, or not at
    /// all. Without a destination, the file stays in the folder for temporary files.
    open func downloadTask(
        with request: URLRequest, progress: ProgressBlock?, destination: DestinationBlock?,
        completionHandler: (@Sendable (URLResponse, URL?, (any Error)?) -> Void)? = nil
    ) -> URLSessionDownloadTask {
        makeDownload(
            request, resuming: nil, to: destination, TaskBlocks(nil, progress, completionHandler.map(Self.withURL)))
    }

    /// Makes a task that resumes a download from the data of `NSURLSessionDownloadTaskResumeData`, or of
    /// `cancel(byProducingResumeData:)`.
    open func downloadTask(
        withResumeData resumeData: Data, progress: ProgressBlock?, destination: DestinationBlock?,
        completionHandler: (@Sendable (URLResponse, URL?, (any Error)?) -> Void)? = nil
    ) -> URLSessionDownloadTask {
        let blocks = TaskBlocks(nil, progress, completionHandler.map(Self.withURL))
        let data = Result { () throws(SessionError) in try ResumeData(decoding: resumeData) }
        let url = try? data.get().url
        var request = URLRequest(url: url ?? URL(filePath: "/"))
        request.url = url
        return makeDownload(request, resuming: data, to: destination, blocks)
    }

    // MARK: The session

    private func isRunning(_ task: URLSessionTask) -> Bool {
        state.withLock { $0.tasks[task.taskIdentifier]?.task === task }
    }

    private func replace(_ policy: SecurityPolicy) {
        guard case .success(let session) = state.withLock({ $0.session })?.result else { return }
        do {
            try session.replaceSecurityPolicy(policy)
        } catch {
            // A session that cannot take the policy must not go on under the former one.
            state.withLock { $0.session }?.engine?.close(.leaving) {}
            session.startShutdown(.immediate)
        }
    }
}

extension URLSession {
    /// Makes a session whose end is reported to the blocks.
    fileprivate static func made(
        _ configuration: URLSessionConfiguration, _ policy: SecurityPolicy, _ blocks: BlockTable
    ) -> URLSession {
        let living = LivingSession(blocks)
        var settings = configuration.configuration
        settings.securityPolicy = policy
        // The engine of a background session does not wait for blocks.
        if configuration.background == nil {
            settings.callbackExecutor = .custom { [queue = blocks.queue] work in queue.execute(work) }
        }
        settings.hooks = TaskHooks()
        settings.sessionHooks.didBecomeInvalid = { living.end() }
        let result = Result { () throws(SessionError) in
            guard let transport = configuration.transport else { return try HTTPSession(configuration: settings) }
            return try HTTPSession(configuration: settings, transport: transport)
        }
        let engine = try? configuration.background.map { background in
            try background.makeEngine(background, result.get()) { [queue = blocks.queue] in queue.execute($0) }
        }
        let session = URLSession(configuration, result, engine)
        if case .success = result { living.begin(session) }
        return session
    }
}

/// Retains a session and the blocks from its creation to its end, so that the block for its end has the session. A
/// session that has ended retains neither, since a block may retain a task of it.
private final class LivingSession: Sendable {
    private let living: Mutex<(session: URLSession?, blocks: BlockTable?)>

    init(_ blocks: BlockTable) { living = Mutex((nil, blocks)) }

    func begin(_ session: URLSession) { living.withLock { $0.session = session } }

    func end() {
        let (session, blocks) = living.withLock { living in
            defer { living = (nil, nil) }
            return living
        }
        if let session { blocks?.sessionEnded(session) }
    }
}
