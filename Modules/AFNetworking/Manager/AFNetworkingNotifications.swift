// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names are AFNetworking's.

public import Foundation  // NSNotification

extension NSNotification.Name {
    /// Posted on the main queue when a task starts, or is resumed. The object is the task.
    public static let AFNetworkingTaskDidResume = NSNotification.Name("com.alamofire.networking.task.resume")
    /// Posted on the main queue when a task is suspended. The object is the task.
    public static let AFNetworkingTaskDidSuspend = NSNotification.Name("com.alamofire.networking.task.suspend")
    /// Posted on the main queue when a task has ended, after its completion handler. The object is the task.
    public static let AFNetworkingTaskDidComplete = NSNotification.Name("com.alamofire.networking.task.complete")
    /// Posted when a session has ended. The object is the session.
    public static let AFURLSessionDidInvalidate = NSNotification.Name("com.alamofire.networking.session.invalidate")
    /// Posted when the file of a download is at its destination. The object is the task.
    public static let AFURLSessionDownloadTaskDidMoveFileSuccessfully = NSNotification.Name(
        "com.alamofire.networking.session.download.file-manager-succeed")
    /// Posted when the file of a download could not be moved, in which case the task fails as well. The object is the
    /// task.
    public static let AFURLSessionDownloadTaskDidFailToMoveFile = NSNotification.Name(
        "com.alamofire.networking.session.download.file-manager-error")
}

// The keys in the `userInfo` of `AFNetworkingTaskDidComplete`.

/// The body of the response, `Data`; not for downloads.
public let AFNetworkingTaskDidCompleteResponseDataKey = "com.alamofire.networking.complete.finish.responsedata"
/// The serializer's value; the file's URL for a download.
public let AFNetworkingTaskDidCompleteSerializedResponseKey =
    "com.alamofire.networking.task.complete.serializedresponse"
/// The serializer of the response.
public let AFNetworkingTaskDidCompleteResponseSerializerKey =
    "com.alamofire.networking.task.complete.responseserializer"
/// The URL of the file of a download.
public let AFNetworkingTaskDidCompleteAssetPathKey = "com.alamofire.networking.task.complete.assetpath"
/// The error.
public let AFNetworkingTaskDidCompleteErrorKey = "com.alamofire.networking.task.complete.error"
/// The metrics of each attempt, `[TransportMetrics]`.
public let AFNetworkingTaskDidCompleteSessionTaskMetrics = "com.alamofire.networking.complete.sessiontaskmetrics"
