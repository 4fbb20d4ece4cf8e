/// A store of this library. It calls no user code, so a cancelled request can still wait for it.
package protocol PromptCacheStore: CacheStore {}

extension MemoryCacheStore: PromptCacheStore {}
