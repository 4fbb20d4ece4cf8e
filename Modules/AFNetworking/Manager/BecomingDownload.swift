internal import FoundationEssentials
internal import LinnetSession
internal import Synchronization

/// The download that a data task becomes: its task, its temporary file, and how it is judged.
struct BecomingDownload: Sendable {
    let task: URLSessionDownloadTask
    let file: URL
    let options: DownloadOptions
}

/// The download that a data task has become, at its end.
struct BecameDownload: Sendable {
    let task: URLSessionDownloadTask
    let response: HTTPURLResponse
    /// The file; nil if the download failed.
    var file: URL?
}

extension URLSessionDataTask {
    /// Makes the download that this task becomes. It shares the transfer, and is retained until its end.
    func makeDownload(_ number: Int, _ response: HTTPURLResponse) -> URLSessionDownloadTask {
        let download = URLSessionDownloadTask(number, originalRequest, base) { _ in }
        download.changes.withLock { changes in
            (changes.isRunning, changes.hasStarted, changes.own) = (true, true, download)
            changes.response = response
        }
        changes.withLock { $0.download = BecameDownload(task: download, response: response) }
        return download
    }
}

extension URLSessionTask {
    /// The download that this task becomes, while it runs.
    var download: URLSessionDownloadTask? { changes.withLock { $0.download?.task } }

    /// Takes the file of the download.
    func take(file: URL) {
        changes.withLock { $0.download?.file = file }
    }

    /// The download that this task has become, once: the task no longer retains it.
    func becameDownload() -> BecameDownload? {
        changes.withLock { changes in
            defer { changes.download = nil }
            return changes.download
        }
    }
}
