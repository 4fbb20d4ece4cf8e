public import LinnetSession
public import LinnetUIState

// The names of AFNetworking's UIKit categories, for the states of LinnetUIState.

extension RefreshState {
    /// UIRefreshControl, setRefreshingWithStateOfTask:
    public func setRefreshingWithStateOf(_ task: (any SessionTask)?) { follow(task) }
}

extension ActivityState {
    /// UIActivityIndicatorView, setAnimatingWithStateOfTask:
    public func setAnimatingWithStateOf(_ task: (any SessionTask)?) { follow(task) }
}

extension TransferProgressState {
    /// UIProgressView, setProgressWithUploadProgressOfTask:animated:
    ///
    /// Whatever draws the state animates it, or does not: `animated` has no effect.
    public func setProgressWithUploadProgressOf(_ task: (any SessionTask)?, animated: Bool) { follow(task, .upload) }

    /// UIProgressView, setProgressWithDownloadProgressOfTask:animated:
    ///
    /// Whatever draws the state animates it, or does not: `animated` has no effect.
    public func setProgressWithDownloadProgressOf(_ task: (any SessionTask)?, animated: Bool) {
        follow(task, .download)
    }
}
