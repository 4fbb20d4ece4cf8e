public import FoundationEssentials
public import HTTPTypes
public import LinnetSerialization

// Handles on a call: suspended, with progress, events, callbacks, and a place among the session's tasks. Nothing is sent until
// ``TransferTask/resume()``, or until its value is awaited. A call that cannot be made gives a handle that fails then.
extension HTTPCall {
    /// Makes a handle on the call, whose response is read by a serializer: `call.task(.string)`.
    public func task<S: ResponseSerializer>(_ serializer: S) -> TransferTask<S.Value> {
        prepared(session.session.task(for: made(), kind: content.isUpload ? .upload : .data, serializer: serializer))
    }

    /// Makes a handle on the call, whose response has the body as it is.
    public func task() -> TransferTask<Data> { task(DataResponseSerializer()) }

    /// Makes a handle on the call, whose JSON body is decoded as a type.
    public func task<T: Decodable & Sendable>(as type: T.Type) -> TransferTask<T> {
        acceptingJSON().task(session.configuration.serializer(for: type))
    }

    /// Makes a handle on the call, whose body is read as JSON; its value is nil where the body is empty.
    public func jsonTask() -> TransferTask<JSONValue?> {
        acceptingJSON().task(session.configuration.responseSerializer)
    }

    /// Makes a handle on a download to a file, as ``download(to:options:)`` does.
    public func downloadTask(to destination: URL, options: DownloadOptions = DownloadOptions()) -> DownloadTask {
        downloadTask { link throws(SessionError) in try DownloadPlan(to: destination, options, link: link) }
    }

    /// Makes a handle on a download into a folder, under the name that the response suggests, as
    /// ``Session/downloadTask(for:into:options:)`` does.
    public func downloadTask(into folder: URL, options: DownloadOptions = DownloadOptions()) -> DownloadTask {
        downloadTask { link throws(SessionError) in try DownloadPlan(into: folder, options, link: link) }
    }

    /// Makes a handle on a download whose destination is chosen when it is complete, as
    /// ``Session/downloadTask(for:options:chooseDestination:)`` does.
    public func downloadTask(
        options: DownloadOptions = DownloadOptions(),
        chooseDestination: @escaping @Sendable (_ temporaryFile: URL, _ response: HTTPResponse) throws -> URL
    ) -> DownloadTask {
        downloadTask { link in DownloadPlan(.chosen(chooseDestination), options, link: link) }
    }

    /// Makes a handle on a response that is read as it arrives, from ``TransferTask/response``.
    public func streamTask() -> StreamTask { prepared(session.session.streamTask(for: made())) }

    private func downloadTask(
        _ plan: @escaping @Sendable (DownloadLink) throws(SessionError) -> DownloadPlan
    ) -> DownloadTask {
        prepared(session.session.downloadTask(for: made(), plan))
    }

    private func made() -> Result<Request, SessionError> {
        Result { () throws(SessionError) in try request() }
    }

    private func prepared<Value>(_ task: TransferTask<Value>) -> TransferTask<Value> {
        if let hooks = extras?.hooks { task.hooks = hooks }
        return task
    }
}
