// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names are AFNetworking's.

internal import Dispatch
// For NSObject and NotificationCenter, which FoundationEssentials does not have.
public import Foundation
internal import LinnetMessages
public import LinnetReachability
internal import Synchronization

// SAFETY: The mutable state is in a mutex, and the other property is a constant function that is Sendable.
/// Monitors the reachability of the network, an address or a host: AFNetworking's face of `ReachabilityMonitor`.
///
/// ```swift
/// let manager = AFNetworkReachabilityManager.shared()
/// manager.setReachabilityStatusChange { status in print(AFStringFromNetworkReachabilityStatus(status)) }
/// manager.startMonitoring()
/// ```
/// The status is ``AFNetworkReachabilityStatus/unknown`` until ``startMonitoring()``. The block and the notification
/// `AFNetworkingReachabilityDidChange` come on the main queue: first the current status, then each change.
open class AFNetworkReachabilityManager: NSObject, @unchecked Sendable {
    private struct State {
        var monitor: ReachabilityMonitor?
        var observation: ReachabilityMonitor.Observation?
        var block: (@Sendable (AFNetworkReachabilityStatus) -> Void)?
    }

    private static let common = AFNetworkReachabilityManager()

    private let make: @Sendable () throws -> ReachabilityMonitor
    private let state = Mutex(State())

    /// The manager that session managers share. It monitors the network as a whole.
    open class func shared() -> AFNetworkReachabilityManager { common }

    /// Creates a manager for the network as a whole.
    public override convenience init() {
        self.init(making: { try ReachabilityMonitor() })
    }

    /// Creates a manager for a host, whose name is looked up while the manager monitors.
    public convenience init(forDomain domain: String) {
        self.init(making: { try ReachabilityMonitor(host: domain, port: 443) })
    }

    /// Creates a manager for an address, such as `192.0.2.1` or `2001:db8::1`. The status for another text stays
    /// unknown.
    public convenience init(forAddress address: String) {
        self.init(making: { try ReachabilityMonitor(address: address) })
    }

    /// Creates a manager for a monitor, which it starts and stops.
    public convenience init(reachability monitor: ReachabilityMonitor) {
        self.init(making: { monitor })
    }

    private init(making make: @escaping @Sendable () throws -> ReachabilityMonitor) {
        self.make = make
    }

    deinit { stopMonitoring() }

    /// The current status; the last one after ``stopMonitoring()``.
    open var networkReachabilityStatus: AFNetworkReachabilityStatus {
        state.withLock { $0.monitor }.map { AFNetworkReachabilityStatus($0.status) } ?? .unknown
    }

    /// Whether the network, the address or the host is reachable.
    open var isReachable: Bool { isReachableViaWWAN || isReachableViaWiFi }

    /// Whether it is reachable through a mobile network.
    open var isReachableViaWWAN: Bool { networkReachabilityStatus == .reachableViaWWAN }

    /// Whether it is reachable through any other network, such as Ethernet.
    open var isReachableViaWiFi: Bool { networkReachabilityStatus == .reachableViaWiFi }

    /// The current status in words, in English.
    open func localizedNetworkReachabilityStatusString() -> String {
        AFStringFromNetworkReachabilityStatus(networkReachabilityStatus)
    }

    /// Starts monitoring, again if it was started before. If the network cannot be read, the status stays unknown;
    /// `ReachabilityMonitor` says why.
    open func startMonitoring() {
        stopMonitoring()
        guard let monitor = try? state.withLock({ $0.monitor }) ?? make(), (try? monitor.start()) != nil else { return }
        let observation = monitor.observe(on: .main) { [weak self] in self?.report(AFNetworkReachabilityStatus($0)) }
        let former = state.withLock { state in
            defer { (state.monitor, state.observation) = (monitor, observation) }
            return state
        }
        // Another thread may have started it meanwhile.
        withExtendedLifetime(former) { former.observation?.cancel() }
    }

    /// Stops monitoring. No block or notification follows, except for one that has begun.
    open func stopMonitoring() {
        let former = state.withLock { state in
            defer { state.observation = nil }
            return state
        }
        former.observation?.cancel()
        if former.observation != nil { former.monitor?.stop() }
    }

    /// Sets the block that is called on the main queue with the status when monitoring starts, and with each change;
    /// nil removes it. It remains across ``stopMonitoring()``.
    open func setReachabilityStatusChange(_ block: (@Sendable (AFNetworkReachabilityStatus) -> Void)?) {
        state.replace(\.block, with: block)
    }

    private func report(_ status: AFNetworkReachabilityStatus) {
        state.withLock { $0.block }?(status)
        NotificationCenter.default.post(
            name: .AFNetworkingReachabilityDidChange, object: self,
            userInfo: [AFNetworkingReachabilityNotificationStatusItem: status.rawValue])
    }
}

extension NSNotification.Name {
    /// Posted on the main queue when a manager's status changes. The object is the ``AFNetworkReachabilityManager``,
    /// and the value of ``AFNetworkingReachabilityNotificationStatusItem`` the number of the status.
    public static let AFNetworkingReachabilityDidChange = NSNotification.Name(
        "com.alamofire.networking.reachability.change")
}

/// The key of the status in the notification `AFNetworkingReachabilityDidChange`: an `Int`, the raw value of an
/// ``AFNetworkReachabilityStatus``.
public let AFNetworkingReachabilityNotificationStatusItem = "AFNetworkingReachabilityNotificationStatusItem"
