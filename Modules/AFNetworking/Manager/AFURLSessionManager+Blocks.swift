public import Foundation  // the types of the manager
public import LinnetSerialization
public import LinnetTransport

// The blocks of the session, which are called on the operation queue. They can be set at any time: a block applies to
// the tasks that start after it was set, and can be replaced or removed while they run.
extension AFURLSessionManager {
    /// Sets a block that is called when the session has ended.
    public func setSessionDidBecomeInvalid(_ block: (@Sendable (URLSession, (any Error)?) -> Void)?) {
        blocks.change { $0.didBecomeInvalid = block }
    }

    /// Sets a block that returns the request to follow a redirect with; nil makes the redirect the response.
    public func setTaskWillPerformHTTPRedirection(
        _ block: (@Sendable (URLSession, URLSessionTask, URLResponse, URLRequest) -> URLRequest?)?
    ) {
        blocks.change { $0.willRedirect = block }
    }

    /// Sets a block that is called with the numbers of bytes of the request's body: sent since the last call, sent in
    /// all, and to be sent, which is -1 while it is not known.
    public func setTaskDidSendBodyData(
        _ block: (@Sendable (URLSession, URLSessionTask, Int64, Int64, Int64) -> Void)?
    ) {
        blocks.change { $0.didSendBody = block }
    }

    /// Sets a block that is called when a task has ended, with the error of its transfer, before the response is read.
    public func setTaskDidComplete(_ block: (@Sendable (URLSession, URLSessionTask, (any Error)?) -> Void)?) {
        blocks.change { $0.didComplete = block }
    }

    /// Sets a block that is called with the metrics of each attempt when a task has ended.
    public func setTaskDidFinishCollectingMetrics(
        _ block: (@Sendable (URLSession, URLSessionTask, [TransportMetrics]) -> Void)?
    ) {
        blocks.change { $0.didCollectMetrics = block }
    }

    /// Sets a block that decides whether the body of a data task's response is read, or written to a file.
    public func setDataTaskDidReceiveResponse(
        _ block: (@Sendable (URLSession, URLSessionDataTask, URLResponse) -> URLSession.ResponseDisposition)?
    ) {
        blocks.change { $0.didReceiveResponse = block }
    }

    /// Sets a block that is called with the download that a data task becomes, whose response was answered with
    /// ``URLSession/ResponseDisposition/becomeDownload``.
    ///
    /// The download takes the data task's place among the manager's tasks, and the completion handler of the data task
    /// gets the URL of its file. The block of ``setDownloadTaskDidFinishDownloading(_:)`` chooses its destination.
    public func setDataTaskDidBecomeDownloadTask(
        _ block: (@Sendable (URLSession, URLSessionDataTask, URLSessionDownloadTask) -> Void)?
    ) {
        blocks.change { $0.didBecomeDownload = block }
    }

    /// Sets a block that is called with each piece of the body of a data task's response.
    public func setDataTaskDidReceiveData(_ block: (@Sendable (URLSession, URLSessionDataTask, Data) -> Void)?) {
        blocks.change { $0.didReceiveData = block }
    }

    /// Decides how a 401 is answered: by returning a ``URLCredential``, a ``URLSession/AuthChallengeDisposition`` or
    /// its number, or an error, which fails the task; or by returning nil and calling the function later.
    public typealias ChallengeHandler =
        @Sendable (
            URLSession, URLSessionTask, URLAuthenticationChallenge,
            _ completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) -> Any?

    /// Sets a handler that is called when a server requires authentication. Servers are trusted by the
    /// ``securityPolicy`` alone.
    public func setAuthenticationChallengeHandler(_ handler: ChallengeHandler?) {
        blocks.change { $0.didReceiveChallenge = handler }
    }

    /// Sets a block that returns the body of a request that must be sent again, and whose body can be read only once.
    public func setTaskNeedNewBodyStream(_ block: (@Sendable (URLSession, URLSessionTask) -> HTTPRequestBody?)?) {
        blocks.change { $0.needsNewBody = block }
    }

    /// Sets a block that decides whether and how the response of a data task is stored, before its body is read. Nil
    /// does not store it.
    public func setDataTaskWillCacheResponse(
        _ block: (@Sendable (URLSession, URLSessionDataTask, CachedURLResponse) -> CachedURLResponse?)?
    ) {
        blocks.change { $0.willCacheResponse = block }
    }

    /// Sets a block that is called on the main queue when all tasks that a background session has adopted have ended,
    /// and their blocks were called: once, and at once if there were none. Suspended tasks are not waited for. It is
    /// not called for other sessions.
    public func setDidFinishEventsForBackgroundURLSession(_ block: (@Sendable (URLSession) -> Void)?) {
        blocks.change { $0.didFinishBackgroundEvents = block }
    }

    /// Sets a block that returns the destination of a download; nil leaves it to the task's own block.
    public func setDownloadTaskDidFinishDownloading(
        _ block: (@Sendable (URLSession, URLSessionDownloadTask, URL) -> URL?)?
    ) {
        blocks.change { $0.didFinishDownloading = block }
    }

    /// Sets a block that is called with the numbers of bytes of a download: written since the last call, written in
    /// all, and expected, which is -1 while it is not known.
    public func setDownloadTaskDidWriteData(
        _ block: (@Sendable (URLSession, URLSessionDownloadTask, Int64, Int64, Int64) -> Void)?
    ) {
        blocks.change { $0.didWriteData = block }
    }

    /// Sets a block that is called when a download resumes, with the number of bytes that it has, and of all, which is
    /// -1 while it is not known.
    public func setDownloadTaskDidResume(
        _ block: (@Sendable (URLSession, URLSessionDownloadTask, Int64, Int64) -> Void)?
    ) {
        blocks.change { $0.didResume = block }
    }
}
