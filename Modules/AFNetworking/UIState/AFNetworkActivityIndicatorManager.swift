public import Foundation  // NSObject
public import LinnetUIState

/// Shows that requests of the process run: AFNetworking's face of `NetworkActivityIndicator`.
///
/// ```swift
/// AFNetworkActivityIndicatorManager.shared().isEnabled = true
/// AFNetworkActivityIndicatorManager.shared().setNetworkingActivityActionWith { isVisible in spinner.isHidden = !isVisible }
/// ```
/// It counts the requests of every session of the process, of managers and others.
@MainActor
open class AFNetworkActivityIndicatorManager: NSObject {
    private static let common = AFNetworkActivityIndicatorManager()

    /// The state that an interface observes.
    public let indicator: NetworkActivityIndicator

    /// The manager that a program usually has.
    open class func shared() -> AFNetworkActivityIndicatorManager { common }

    /// Creates a manager, which is not enabled.
    public override convenience init() { self.init(indicator: NetworkActivityIndicator()) }

    /// Creates a manager over an indicator, such as one that follows some sessions only.
    public init(indicator: NetworkActivityIndicator) { self.indicator = indicator }

    /// Whether the indicator can become visible. The default is false.
    open var isEnabled: Bool {
        get { indicator.isEnabled }
        set { indicator.isEnabled = newValue }
    }

    /// The state of the indicator.
    open var currentState: NetworkActivityIndicator.State { indicator.state }

    /// Whether to show the indicator.
    open var isNetworkActivityIndicatorVisible: Bool { indicator.isVisible }

    /// The time in seconds for which requests run before the indicator becomes visible. The default is 1.
    open var activationDelay: TimeInterval {
        get { indicator.activationDelay / .seconds(1) }
        set { indicator.activationDelay = .seconds(min(max(newValue, 0), 1e9)) }
    }

    /// The time in seconds for which the indicator stays visible after the last request. The default is 0.17.
    open var completionDelay: TimeInterval {
        get { indicator.completionDelay / .seconds(1) }
        set { indicator.completionDelay = .seconds(min(max(newValue, 0), 1e9)) }
    }

    /// Counts an activity besides requests. It can be called from any thread.
    public nonisolated func incrementActivityCount() { indicator.incrementActivityCount() }

    /// Ends an activity of ``incrementActivityCount()``. It can be called from any thread.
    public nonisolated func decrementActivityCount() { indicator.decrementActivityCount() }

    /// Sets a block that is called on the main actor with whether the indicator is visible, when that has changed.
    open func setNetworkingActivityActionWith(_ block: ((_ networkActivityIndicatorVisible: Bool) -> Void)?) {
        indicator.onVisibilityChange = block
    }
}
