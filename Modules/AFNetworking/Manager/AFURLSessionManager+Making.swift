internal import Dispatch
internal import Foundation  // NSError
internal import HTTPTypes
internal import LinnetSerialization
internal import LinnetSession
internal import LinnetTransport
internal import Synchronization

/// The blocks of one task.
struct TaskBlocks: Sendable {
    let upload: AFURLSessionManager.ProgressBlock?
    let download: AFURLSessionManager.ProgressBlock?
    let completion: AFURLSessionManager.CompletionBlock?
    /// Called after the completion handler, when the notification of the end is on its way.
    var didReport: (@Sendable () -> Void)?

    init(
        _ upload: AFURLSessionManager.ProgressBlock?, _ download: AFURLSessionManager.ProgressBlock?,
        _ completion: AFURLSessionManager.CompletionBlock?
    ) {
        (self.upload, self.download, self.completion) = (upload, download, completion)
    }

    var hasProgress: Bool { upload != nil || download != nil }
}

/// The outcome of a transfer, as the session reports it.
struct TransferOutcome: Sendable {
    var response: HTTPURLResponse?
    var data: Data?
    var file: URL?
    var error: NSError?
    var metrics: [TransportMetrics]
    /// Whether the serializer reads the body, if there is neither an error nor a file.
    var isRead = true

    init(_ result: Result<SessionResponse<Data>, SessionError>) {
        self.init(result) { $0.data = $1 }
    }

    init(_ result: Result<SessionResponse<URL>, SessionError>) {
        self.init(result) { $0.file = $1 }
    }

    init(_ error: SessionError) {
        self.init(Result<SessionResponse<Data>, SessionError>.failure(error))
    }

    init(_ outcome: BackgroundOutcome) {
        response = outcome.head.map { HTTPURLResponse(url: outcome.url, head: $0) }
        (data, error, metrics) = (outcome.body, outcome.error?.nsError, [])
    }

    private init<Value>(_ result: Result<SessionResponse<Value>, SessionError>, _ take: (inout Self, Value) -> Void) {
        switch result {
        case .success(let response):
            self.response = HTTPURLResponse(url: response.url, head: response.head)
            metrics = response.metrics
            take(&self, response.value)
        case .failure(let error):
            response = error.head.map { HTTPURLResponse(url: error.url, head: $0) }
            data = error.body
            self.error = error.nsError
            metrics = error.metrics
        }
    }
}

extension AFURLSessionManager {
    /// Makes a task whose response is read into memory, and is judged and read by the manager's serializer.
    ///
    /// - Parameter file: The file that is sent, if a background session can send it.
    func makeTask<Task: URLSessionTask>(
        _ request: URLRequest, _ body: Result<HTTPRequestBody?, SessionError>, _ blocks: TaskBlocks, file: URL? = nil
    ) -> Task {
        start(request, blocks) { session, number throws(SessionError) in
            if session.engine != nil { return try backgroundUpload(request, file: file, in: session, number: number) }
            let made = Result { () throws(SessionError) in
                var request = request
                request.body = try body.get()
                return try request.made()
            }
            let task = try session.result.get().call(made).dataTask(validation: .none)
            return Transfer(task: task, setHooks: { task.hooks = $0 }) { _, report in
                task.onEnd { report(TransferOutcome($0)) }
            }
        }
    }

    /// Makes a task whose response is written to a file.
    func makeDownload(
        _ request: URLRequest, resuming resumeData: Result<ResumeData, SessionError>?,
        to destination: DestinationBlock?, _ blocks: TaskBlocks
    ) -> URLSessionDownloadTask {
        start(request, blocks) { [options = downloadOptions] session, number throws(SessionError) in
            if session.engine != nil {
                return try backgroundDownload(
                    request, isResumed: resumeData != nil, to: destination, in: session, number: number)
            }
            let made = Result { () throws(SessionError) in
                _ = try resumeData?.get()
                return try request.made()
            }
            let call = try session.result.get().call(made)
            let task = call.downloadTask(resuming: try? resumeData?.get(), options: options) { file, head in
                destination?(file, HTTPURLResponse(url: request.url, head: head)) ?? .newTemporaryFile
            }
            return Transfer(task: task, setHooks: { task.hooks = $0 }) { _, report in
                task.onEnd { report(TransferOutcome($0)) }
            }
        }
    }

    /// The options of downloads: the statuses that the serializer accepts.
    var downloadOptions: DownloadOptions {
        var options = DownloadOptions()
        if let serializer = responseSerializer as? AFHTTPResponseSerializer {
            options.validation = ResponseValidation(
                statusCodes: serializer.acceptableStatusCodes.map { RangeSet($0.rangeView) })
        }
        return options
    }

    /// Makes the download that a data task becomes, which takes its place among the tasks.
    private func makeDownload(of task: URLSessionDataTask, _ response: HTTPURLResponse) -> BecomingDownload {
        let download = task.makeDownload(nextNumber(), response)
        state.withLock { state in
            state.tasks[task.taskIdentifier] = nil
            state.tasks[download.taskIdentifier] = WeakTask(task: download)
        }
        return BecomingDownload(task: download, file: .newTemporaryFile, options: downloadOptions)
    }

    private func nextNumber() -> Int {
        state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
    }

    /// Linnet's task, of any type, and what this module does with it.
    struct Transfer: Sendable {
        let task: any SessionTask
        /// Sets hooks, if tasks of the session have some.
        var setHooks: (@Sendable (TaskHooks) -> Void)?
        /// Reports the outcome of the task.
        let onEnd:
            @Sendable (
                _ task: @escaping @Sendable () -> URLSessionTask?,
                _ report: @escaping @Sendable (TransferOutcome) -> Void
            ) -> Void
        /// Called after the completion handler.
        var didReport: (@Sendable () -> Void)?
    }

    /// Makes a task over Linnet's. One that cannot be made reports its error when it is resumed.
    private func start<Task: URLSessionTask>(
        _ request: URLRequest, _ blocks: TaskBlocks,
        _ make: (_ session: URLSession, _ number: Int) throws(SessionError) -> Transfer
    ) -> Task {
        let session = session
        let number = nextNumber()
        let transfer: Transfer
        do throws(SessionError) {
            transfer = try make(session, number)
        } catch {
            let task = Task(number, request, nil) { [self] task in
                self.blocks.queue.execute {
                    self.finish(task, of: request.url, TransferOutcome(error), blocks, in: session)
                }
            }
            return add(task)
        }
        let task = Task(number, request, transfer.task) { [self, setHooks = transfer.setHooks] task in
            if let setHooks {
                let hooks = self.blocks.hooks(of: task, in: session) { [self] in makeDownload(of: $0, $1) }
                if let hooks { setHooks(hooks) }
            }
            task.enter(completionGroup)
        }
        connect(task, to: transfer, blocks, in: session)
        return add(task)
    }

    /// Connects a task with the blocks for its progress and its end.
    func connect(_ task: URLSessionTask, to transfer: Transfer, _ blocks: TaskBlocks, in session: URLSession) {
        var blocks = blocks
        blocks.didReport = transfer.didReport
        if blocks.hasProgress {
            transfer.task.onProgress { [weak task, blocks] in task?.take($0, blocks) }
        }
        if let transfer = transfer.task as? BackgroundTransfer { follow(task, transfer, in: session) }
        let (url, number) = (task.originalRequest?.url, task.taskIdentifier)
        transfer.onEnd({ [weak task] in task }) { [self, weak task, blocks] outcome in
            let end = { @Sendable [self, weak task] in
                finish(task, of: url, outcome, blocks, in: session, number: number)
            }
            // Without a block to call on the queue of the session, before or after, nothing has to go there.
            if blocks.hasProgress || task?.hasProgress == true || !self.blocks.isUnused {
                self.blocks.queue.execute(end)
            } else {
                end()
            }
        }
    }

    @discardableResult
    func add<Task: URLSessionTask>(_ task: Task) -> Task {
        state.withLock { $0.tasks[task.taskIdentifier] = WeakTask(task: task) }
        return task
    }

    /// Reads the response, and reports the task's end. It is called on the queue of the session, once for each task.
    private func finish(
        _ task: URLSessionTask?, of url: URL?, _ outcome: TransferOutcome, _ blocks: TaskBlocks, in session: URLSession,
        number: Int? = nil
    ) {
        var (task, outcome) = (task, outcome)
        state.withLock { $0.tasks[number ?? task?.taskIdentifier ?? 0] = nil }
        let download = task?.becameDownload()
        if let download { outcome.take(download) }
        let group = task?.end(outcome.response, outcome.error)
        if let download {
            _ = download.task.end(outcome.response, outcome.error)
            state.withLock { $0.tasks[download.task.taskIdentifier] = nil }
            task = download.task
        }
        if let task {
            self.blocks.current.didComplete?(session, task, outcome.error)
            if let download = task as? URLSessionDownloadTask { download.postMove(outcome) }
        }
        guard outcome.error == nil, outcome.file == nil, outcome.isRead else {
            return report(outcome, UncheckedBox(outcome.file), outcome.error, of: task, url: url, to: blocks, in: group)
        }
        let serializer = responseSerializer
        let read = { @Sendable [self, task, outcome] in
            var failure: NSError?
            let object = serializer.responseObject(for: outcome.response, data: outcome.data, error: &failure)
            report(outcome, UncheckedBox(object), failure, of: task, url: url, to: blocks, in: group)
        }
        // A short body is read faster than another queue begins. A serializer of the program's own may wait.
        if outcome.data?.count ?? 0 <= Self.shortBody, serializer.isOfThisModule {
            read()
        } else {
            Self.processingQueue.async(execute: read)
        }
    }

    /// The length of a body in bytes that is read on the queue of the session.
    private static let shortBody = 16 * 1024

    /// The queue on which responses are read.
    private static let processingQueue = DispatchQueue(label: "linnet.afnetworking.processing", attributes: .concurrent)

    private func report(
        _ outcome: TransferOutcome, _ object: UncheckedBox<Any?>, _ error: NSError?, of task: URLSessionTask?,
        url: URL?, to blocks: TaskBlocks, in group: DispatchGroup?
    ) {
        let serializer = responseSerializer
        let queue = completionQueue ?? .main
        if queue === DispatchQueue.main { MainQueueWatch.shared.begin(sessionConfiguration.configuration.logger) }
        queue.async {
            let response = outcome.response ?? URLResponse(url: url, head: HTTPResponse(status: .ok))
            blocks.completion?(response, object.value, error)
            group?.leave()
            task?.post(.AFNetworkingTaskDidComplete) { outcome.info(object.value, error, serializer) }
            blocks.didReport?()
        }
    }
}

extension TransferOutcome {
    /// The `userInfo` of the notification of the end.
    fileprivate func info(
        _ object: Any?, _ error: NSError?, _ serializer: any AFURLResponseSerialization
    ) -> [AnyHashable: Any] {
        var info: [AnyHashable: Any] = Dictionary(minimumCapacity: 6)
        info[InfoKey.serializer.value] = serializer
        if let file {
            info[InfoKey.file.value] = file
        } else if let data {
            info[InfoKey.data.value] = data
        }
        if let object { info[InfoKey.object.value] = object }
        if let error { info[InfoKey.error.value] = error }
        info[InfoKey.metrics.value] = metrics
        return info
    }

    /// Takes the file of a data task that became a download, whose own end is that a hook has taken its response.
    fileprivate mutating func take(_ download: BecameDownload) {
        response = response ?? download.response
        guard let file = download.file, error?.isTakenByHook == true else { return }
        (self.file, data, error) = (file, nil, nil)
    }
}

// SAFETY: The boxes have constant strings.
/// The keys of the notification, which would be made anew for each.
private enum InfoKey {
    static let serializer = UncheckedBox<AnyHashable>(AFNetworkingTaskDidCompleteResponseSerializerKey)
    static let file = UncheckedBox<AnyHashable>(AFNetworkingTaskDidCompleteAssetPathKey)
    static let data = UncheckedBox<AnyHashable>(AFNetworkingTaskDidCompleteResponseDataKey)
    static let object = UncheckedBox<AnyHashable>(AFNetworkingTaskDidCompleteSerializedResponseKey)
    static let error = UncheckedBox<AnyHashable>(AFNetworkingTaskDidCompleteErrorKey)
    static let metrics = UncheckedBox<AnyHashable>(AFNetworkingTaskDidCompleteSessionTaskMetrics)
}

extension AFURLResponseSerialization {
    /// Whether no code of the program reads a body.
    fileprivate var isOfThisModule: Bool {
        let type = type(of: self)
        return type == AFHTTPResponseSerializer.self || type == AFJSONResponseSerializer.self
            || type == AFPropertyListResponseSerializer.self
    }
}

extension NSError {
    fileprivate var isTakenByHook: Bool { (userInfo[LinnetSessionErrorKey] as? SessionError)?.code == .takenByHook }
}

extension URL {
    static var newTemporaryFile: URL {
        FileManager.default.temporaryDirectory.appending(path: "AFNetworking-\(UUID().uuidString)")
    }
}

extension HTTPSession {
    /// A call of a request that could perhaps not be made.
    fileprivate func call(_ request: Result<SessionRequest, SessionError>) -> HTTPCall {
        switch request {
        case .success(let request): call(request)
        case .failure(let error): get("/").failing(with: error)
        }
    }
}

extension URLSessionDownloadTask {
    fileprivate func postMove(_ outcome: TransferOutcome) {
        if outcome.file != nil {
            post(.AFURLSessionDownloadTaskDidMoveFileSuccessfully)
        } else if outcome.error?.code == NSURLErrorCannotWriteToFile {
            post(.AFURLSessionDownloadTaskDidFailToMoveFile) { outcome.error?.userInfo ?? [:] }
        }
    }
}
