public import LinnetSession

// The names of AFNetworking's UIKit categories. New programs should use `follow`.

extension RefreshState {
    /// UIRefreshControl, setRefreshingWithStateOfTask:
    public func setRefreshing(withStateOfTask task: (any SessionTask)?) { follow(task) }
}

extension ActivityState {
    /// UIActivityIndicatorView, setAnimatingWithStateOfTask:
    public func setAnimating(withStateOfTask task: (any SessionTask)?) { follow(task) }
}

extension TransferProgressState {
    /// UIProgressView, setProgressWithUploadProgressOfTask:animated:
    public func setProgress(withUploadProgressOfTask task: (any SessionTask)?) { follow(task, .upload) }

    /// UIProgressView, setProgressWithDownloadProgressOfTask:animated:
    public func setProgress(withDownloadProgressOfTask task: (any SessionTask)?) { follow(task, .download) }
}
