/// A store of the library's own: it calls no code of the user's, so that a request can wait for it even once it is cancelled.
package protocol PromptCacheStore: CacheStore {}

extension MemoryCacheStore: PromptCacheStore {}
