locals {
  scopes = {
    dev = {
      ssh-check = { numOfLoginNodes = 1 }
    }
    testing         = {}
    prod_quick      = {}
    prod_acceptance = {}
    essential = {
      dcgmi-diag-r3 = { enabled = false }
      gpu-checks    = { enabled = false }
    }
  }
}
