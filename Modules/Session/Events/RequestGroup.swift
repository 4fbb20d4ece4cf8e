/// Counts the running requests of the sessions that have it in their configurations.
///
/// A request enters when it starts, and leaves after its callbacks were called, exactly once.
package protocol RequestGroup: AnyObject, Sendable {
    /// Called when a request starts.
    func enter()
    /// Called on the session's callback executor when a request has ended.
    func leave()
}
