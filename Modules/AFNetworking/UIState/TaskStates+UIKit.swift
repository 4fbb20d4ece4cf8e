internal import LinnetSession
public import LinnetUIState

// The names of AFNetworking's UIKit categories, for the states of LinnetUIState.

extension RefreshState {
    /// UIRefreshControl, setRefreshingWithStateOfTask:
    public func setRefreshingWithStateOf(_ task: URLSessionTask?) { follow(task?.base) }
}

extension ActivityState {
    /// UIActivityIndicatorView, setAnimatingWithStateOfTask:
    public func setAnimatingWithStateOf(_ task: URLSessionTask?) { follow(task?.base) }
}

extension TransferProgressState {
    /// UIProgressView, setProgressWithUploadProgressOfTask:animated:
    ///
    /// Whatever draws the state animates it, or does not: `animated` has no effect.
    public func setProgressWithUploadProgressOf(_ task: URLSessionTask?, animated: Bool) { follow(task?.base, .upload) }

    /// UIProgressView, setProgressWithDownloadProgressOfTask:animated:
    ///
    /// Whatever draws the state animates it, or does not: `animated` has no effect.
    public func setProgressWithDownloadProgressOf(_ task: URLSessionTask?, animated: Bool) {
        follow(task?.base, .download)
    }
}
