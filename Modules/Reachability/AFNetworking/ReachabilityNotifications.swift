internal import Synchronization

/// The changes of all monitors in the process: AFNetworkingReachabilityDidChangeNotification.
///
/// ```swift
/// for await notification in ReachabilityNotifications.all {
///     print(notification.status)
/// }
/// ```
public enum ReachabilityNotifications {
    private static let subscribers = Mutex<[UInt64: AsyncStream<ReachabilityNotification>.Continuation]>([:])
    private static let lastID = Atomic<UInt64>(0)

    /// The notifications after the creation of the sequence: the first status of each monitor that starts, and each
    /// change.
    ///
    /// A slow reader gets the newest 256 notifications, even after the end of their monitor. The sequence ends when the
    /// task is cancelled.
    public static var all: some AsyncSequence<ReachabilityNotification, Never> & Sendable {
        let id = lastID.add(1, ordering: .relaxed).newValue
        let (stream, continuation) = AsyncStream.makeStream(
            of: ReachabilityNotification.self, bufferingPolicy: .bufferingNewest(256))
        subscribers.withLock { $0[id] = continuation }
        continuation.onTermination = { _ in subscribers.withLock { $0[id] = nil } }
        return stream
    }

    static func post(_ notification: ReachabilityNotification) {
        for subscriber in subscribers.withLock({ Array($0.values) }) { subscriber.yield(notification) }
    }
}

/// A change of a monitor's status.
public struct ReachabilityNotification: Sendable {
    /// Identifies the monitor: equal to its `ObjectIdentifier`. It is the notification's object in AFNetworking.
    public let monitorID: ObjectIdentifier
    /// The new status: AFNetworkingReachabilityNotificationStatusItem.
    public let status: ReachabilityStatus
}
